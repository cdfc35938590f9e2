import { hashSync } from '@node-rs/bcrypt';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { changePassword } from '../../../shared/accounts/change-credentials.ts';
import {
  type DeveloperRecord,
  developerAccounts,
  developerSignIns,
} from '../../../shared/accounts/developers/developers.ts';
import { verifyEmail } from '../../../shared/accounts/email-proofs.ts';
import { addressKeyOf, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import { signIn as logInTo, refresh } from '../../../shared/accounts/sign-in.ts';
import { verifyDashboardToken } from '../../../shared/accounts/tokens.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { beforeChange } from '../../support/faults/before-change.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { logIn } from '../../support/fixtures/developers.ts';
import { idOf } from '../../support/fixtures/members.ts';
import { type Developer, newUnverified } from '../../support/fixtures/project.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const client = { ip: '192.0.2.1', userAgent: 'test' };
const newPassword = 'a new password';

/** Hashes begin with a dollar sign, which a pipeline would read as a path. */
const edit = (email: string, set: Partial<DeveloperRecord>) => {
  const literal = Object.fromEntries(Object.entries(set).map(([field, value]) => [field, { $literal: value }]));
  return onControl((db) => db.collection<DeveloperRecord>('developers').updateOne({ email }, [{ $set: literal }]));
};

const stored = (email: string) => onControl((db) => db.collection<DeveloperRecord>('developers').findOne({ email }));

const change = async ({ token, password }: Developer) => {
  const { userId, sessionId } = await verifyDashboardToken(token);
  const body = { currentPassword: password, newPassword };
  return changePassword(developerAccounts, { userId, sessionId }, body, client);
};

describe('a developer’s account that changes between a read and the write', () => {
  test('401 for a password change when the account was deleted meanwhile; nothing changes', async () => {
    const developer = await newUnverified();
    const before = await stored(developer.email);
    beforeChange('findOneAndUpdate', 1, () => edit(developer.email, { deletingSince: new Date() }));
    await expect(change(developer)).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
    expect((await stored(developer.email))?.passwordHash).toBe(before?.passwordHash);
  });

  test('401 for a refresh in another session after a new password, at whichever step the change was killed', async () => {
    const newHashes: boolean[] = [];
    for (let changes = 0, hit: string | undefined = ''; hit !== undefined; changes += 1) {
      const developer = await newUnverified();
      const { session } = await logInTo(developerSignIns(), developer, client);
      const before = await stored(developer.email);
      const killed = killAfter(changes);
      await change(developer).catch(() => undefined);
      hit = killed.hit();
      vi.restoreAllMocks();
      const isChanged = (await stored(developer.email))?.passwordHash !== before?.passwordHash;
      newHashes.push(isChanged);
      const refreshing = refresh(developerSignIns(), session.refreshToken, client);
      if (isChanged) await expect(refreshing, hit).rejects.toMatchObject({ code: 'REFRESH_TOKEN_INVALID' });
      else await refreshing.catch(() => undefined);
    }
    expect(newHashes).toEqual(expect.arrayContaining([false, true]));
  });

  test('200 for a password change of an account without a credential version', async () => {
    const developer = await newUnverified();
    await onControl((db) =>
      db.collection('developers').updateOne({ email: developer.email }, { $unset: { credentialVersion: '' } }),
    );
    await change(developer);
    expect((await logIn(developer.email, newPassword)).status).toBe(200);
  });

  test('400 for a verification email when the account’s address has changed; nothing is verified', async () => {
    const developer = await newUnverified();
    const { email } = developer;
    const place = { scope: developerScope, kind: 'verify', addressKey: addressKeyOf(`x${email}`) } as const;
    const { token } = await issueTokens(place, email, await idOf(developer));
    await edit(email, { email: `moved-${email}` });
    await expect(verifyEmail(developerAccounts, { token }, client)).rejects.toMatchObject({
      code: 'INVALID_EMAIL_TOKEN',
    });
    expect(await stored(`moved-${email}`)).toMatchObject({ emailVerified: false });
  });

  test('a hash of another cost is replaced, unless it was changed meanwhile', async () => {
    const { email, password } = await newUnverified();
    const passwordHash = hashSync(password, { cost: 6 });
    await edit(email, { passwordHash });
    beforeChange('updateOne', 1, () => edit(email, { hasPassword: true }));
    await logInTo(developerSignIns(), { email, password }, client);
    expect((await stored(email))?.passwordHash).not.toBe(passwordHash);
    vi.restoreAllMocks();
    await edit(email, { passwordHash });
    const changed = hashSync(newPassword, { cost: 4 });
    let isChanging = false;
    beforeChange('updateOne', 1, async () => {
      isChanging = true;
      await edit(email, { passwordHash: changed });
    });
    await logInTo(developerSignIns(), { email, password }, client);
    expect(isChanging).toBe(true);
    expect((await stored(email))?.passwordHash).toBe(changed);
  });
});
