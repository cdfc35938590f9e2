import { Collection, MongoNetworkError, ObjectId } from 'mongodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { changePassword } from '../../../shared/accounts/change-credentials.ts';
import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { createToken, type TokenRecord, verifyPersonalToken } from '../../../shared/accounts/developers/tokens.ts';
import { resetPassword } from '../../../shared/accounts/email-proofs.ts';
import { addressKeyOf, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import { verifyDashboardToken } from '../../../shared/accounts/tokens.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { inParallel } from '../../support/clients/client.ts';
import { linkDeveloper, logIn } from '../../support/fixtures/developers.ts';
import { type Developer, newUnverified } from '../../support/fixtures/project.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const newPassword = 'a new password';
const client = { ip: '192.0.2.1', userAgent: 'test' };

/** The reactions of a developer to a stolen session; each ends that session and every token. */
const recoveries: Readonly<Record<string, (victim: Developer, developerId: string) => Promise<unknown>>> = {
  'a password reset': async ({ email }, developerId) => {
    const place = { scope: developerScope, kind: 'reset', addressKey: addressKeyOf(email) } as const;
    const { token } = await issueTokens(place, email, developerId);
    return resetPassword(developerAccounts, { token }, newPassword, client);
  },
  'a change of password that ends tokens': async ({ email, password }) => {
    const { accessToken } = (await logIn(email, password)).body.data;
    const { userId, sessionId } = await verifyDashboardToken(accessToken);
    const body = { currentPassword: password, newPassword, endTokens: true };
    return changePassword(developerAccounts, { userId, sessionId }, body, client);
  },
  'a sign-in by GitHub to an account whose address was never verified': ({ email }) =>
    linkDeveloper({ id: email, name: undefined, username: undefined, addresses: [{ email, verified: true }] }),
};

describe.each(Object.entries(recoveries))('%s while tokens are created', (_name, recover) => {
  const body = { name: 'thief', scopes: ['projects:read' as const], expiresInDays: 365 };

  /** A developer’s stolen session, and the developer’s reaction. */
  const stolenSession = async () => {
    const victim = await newUnverified();
    const bearer = await verifyDashboardToken(victim.token);
    return { bearer, reset: () => recover(victim, bearer.userId) };
  };
  const tokensOf = (developerId: string) =>
    onControl((db) =>
      db.collection<TokenRecord>('personalTokens').countDocuments({ developerId: new ObjectId(developerId) }),
    );

  test('401, and no token is left, when the session ends just before the token is stored', async () => {
    const { bearer, reset } = await stolenSession();
    const insertOne = Collection.prototype.insertOne;
    vi.spyOn(Collection.prototype, 'insertOne').mockImplementationOnce(async function (this: Collection, ...args) {
      await reset();
      return insertOne.apply(this, args);
    });
    await expect(createToken(developerAccounts, bearer, body)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
    expect(await tokensOf(bearer.userId)).toBe(0);
  });

  test('401, and no token is left, when it is requested just before the password changes', async () => {
    const { bearer, reset } = await stolenSession();
    const findOneAndUpdate = Collection.prototype.findOneAndUpdate;
    let asked: unknown;
    vi.spyOn(Collection.prototype, 'findOneAndUpdate').mockImplementationOnce(async function (
      this: Collection,
      ...args: unknown[]
    ) {
      asked = await createToken(developerAccounts, bearer, body).catch((error: unknown) => error);
      return (findOneAndUpdate as (...all: unknown[]) => Promise<never>).apply(this, args);
    } as never);
    await reset();
    expect(asked).toMatchObject({ code: 'TOKEN_INVALID' });
    expect(await tokensOf(bearer.userId)).toBe(0);
  });

  test('503, and earlier tokens are deleted, when the process dies directly after the password change', async () => {
    const { bearer, reset } = await stolenSession();
    await createToken(developerAccounts, bearer, body);
    const deleteMany = Collection.prototype.deleteMany;
    let hasChanged = false;
    const findOneAndUpdate = Collection.prototype.findOneAndUpdate as (...all: unknown[]) => Promise<never>;
    vi.spyOn(Collection.prototype, 'findOneAndUpdate').mockImplementation(async function (
      this: Collection,
      ...args: unknown[]
    ) {
      const changed = await findOneAndUpdate.apply(this, args);
      hasChanged = true;
      return changed;
    } as never);
    vi.spyOn(Collection.prototype, 'deleteMany').mockImplementation(function (this: Collection, ...args) {
      if (hasChanged) throw new MongoNetworkError('The connection was cut');
      return deleteMany.apply(this, args);
    });
    await expect(reset()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    vi.restoreAllMocks();
    expect(await tokensOf(bearer.userId)).toBe(0);
  });

  test('401 for every token of 50 that were created concurrently', async () => {
    const { bearer, reset } = await stolenSession();
    const making = inParallel(50, async () => createToken(developerAccounts, bearer, body).catch(() => undefined));
    await reset();
    const made = (await making).flatMap((token) => token ?? []);
    expect(await tokensOf(bearer.userId)).toBe(0);
    for (const { token } of made)
      await expect(verifyPersonalToken(token)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });
});
