import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { addressKeyOf, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { makePasskey } from '../../support/clients/passkey-device.ts';
import { passkeysOf, passkeySettings as settings } from '../../support/fixtures/passkeys.ts';
import { changeStoredUsers, storedUsers } from '../../support/fixtures/stored-users.ts';
import { ageSession, newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

const refused = { status: 401, body: { code: 'INVALID_CREDENTIALS' } };

let project: UsersProject;
let passkeys: ReturnType<typeof passkeysOf>;

beforeAll(async () => {
  project = await newUsersProject({ settings });
  passkeys = passkeysOf(project);
});

/** Moves the start of a session back. */
const age = ({ accessToken }: SignIn, minutes: number): Promise<void> =>
  ageSession(projectScope(project.id), accessToken, minutes);

describe('a passkey', () => {
  test.each([-7, -8, -257])('200 for a key of COSE algorithm %i', async (alg) => {
    const user = await project.newUser();
    const credential = await passkeys.add(user.token, {}, alg);
    expect(await passkeys.signIn(credential)).toMatchObject({ status: 200, body: { userId: user.userId } });
  });

  test.each(['https://below.app.example.com', 'https://app.example.com:8443'])(
    '200 for an exact allowed domain at or below the host: %s',
    async (origin) => {
      const user = await project.newUser();
      const credential = await passkeys.add(user.token, { origin });
      expect((await passkeys.signIn(credential, { origin })).status).toBe(200);
    },
  );

  test('200 without the user’s second factor', async () => {
    const user = await project.newUser();
    const credential = await passkeys.add(user.token);
    await changeStoredUsers(
      project,
      { email: user.email },
      {
        '_signIn.totp': { sealed: 'x', lastStep: 0, recovery: [] },
      },
    );
    expect((await passkeys.signIn(credential)).status).toBe(200);
  });

  test('400 for an empty or long name; PATCH renames it; 404 for other users', async () => {
    const user = await project.newUser();
    const other = await project.newUser();
    const { _id } = await passkeys.add(user.token);
    const rename = (token: string, id: string, name: string) =>
      project.auth('PATCH', `passkeys/${id}`, { token, body: { name } });
    expect(await rename(user.token, _id, ' ')).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(await rename(user.token, _id, 'x'.repeat(65))).toMatchObject({ status: 400 });
    expect(await rename(user.token, _id, 'Key')).toMatchObject({ status: 200, body: { data: { _id, name: 'Key' } } });
    const missing = { status: 404, body: { code: 'PASSKEY_NOT_FOUND' } };
    expect(await rename(other.token, _id, 'Mine')).toMatchObject(missing);
    expect(await rename(user.token, 'f'.repeat(24), 'Mine')).toMatchObject(missing);
    expect(await rename(user.token, 'none', 'Mine')).toMatchObject(missing);
    expect(await project.auth('DELETE', `passkeys/${_id}`, { token: other.token })).toMatchObject(missing);
    expect(await passkeys.list(user.token)).toMatchObject([{ name: 'Key' }]);
  });

  test('that is deleted cannot sign in; all other sessions end, once for eight concurrent deletions', async () => {
    const user = await project.newUser();
    const credential = await passkeys.add(user.token);
    const entered = await passkeys.signIn(credential);
    const answers = await inParallel(8, () =>
      project.auth('DELETE', `passkeys/${credential._id}`, { token: user.token }),
    );
    expect(tally(answers)).toEqual({ 200: 1, 404: 7 });
    expect(await passkeys.signIn(credential)).toMatchObject(refused);
    expect((await project.refresh(entered.body.refreshToken)).status).toBe(401);
    expect((await project.refresh(user.refreshToken)).status).toBe(200);
    expect(await passkeys.list(user.token)).toEqual([]);
  });

  test('403 REAUTHENTICATION_REQUIRED to add or delete one long after the sign-in, except for anonymous users', async () => {
    const user = await project.newUser();
    const { _id } = await passkeys.add(user.token);
    await age(user, 11);
    const reauthentication = { status: 403, body: { code: 'REAUTHENTICATION_REQUIRED' } };
    const call = (method: string, path: string) =>
      project.auth(method, path, { token: user.token, body: { response: {} } });
    expect(await call('POST', 'passkeys/registration')).toMatchObject(reauthentication);
    expect(await call('POST', 'passkeys/registration/verify')).toMatchObject(reauthentication);
    expect(await call('DELETE', `passkeys/${_id}`)).toMatchObject(reauthentication);
    const { body: anonymous } = await project.auth<SignIn>('POST', 'anonymous');
    await age(anonymous, 11);
    const credential = await passkeys.add(anonymous.accessToken);
    const entered = await passkeys.signIn(credential);
    expect(entered).toMatchObject({ status: 200, body: { userId: anonymous.userId } });
    expect(entered.body.user).not.toHaveProperty('isAnonymous');
  });

  test('409 LAST_WAY_TO_SIGN_IN for the only method; concurrent deletions leave one', async () => {
    const { body } = await project.auth<SignIn>('POST', 'anonymous');
    const token = body.accessToken;
    const remove = ({ _id }: { readonly _id: string }) => project.auth('DELETE', `passkeys/${_id}`, { token });
    const first = await passkeys.add(token);
    expect(await remove(first)).toMatchObject({ status: 409, body: { code: 'LAST_WAY_TO_SIGN_IN' } });
    const second = await passkeys.add(token);
    expect(tally(await Promise.all([first, second].map(remove)))).toEqual({ 200: 1, 409: 1 });
    expect(await passkeys.list(token)).toHaveLength(1);
  });

  test('403 LIMIT_REACHED for the 21st', async () => {
    const user = await project.newUser();
    await passkeys.add(user.token);
    const options = await passkeys.options(user.token);
    const [stored] = await storedUsers(project, { email: user.email });
    const [one] = (stored?._signIn as { readonly passkeys?: readonly object[] } | undefined)?.passkeys ?? [];
    const more = Array.from({ length: 20 }, () => ({ ...one, id: randomBytes(32).toString('base64url') }));
    await changeStoredUsers(project, { email: user.email }, { '_signIn.passkeys': more });
    const full = { status: 403, body: { code: 'LIMIT_REACHED' } };
    expect(await project.auth('POST', 'passkeys/registration', { token: user.token })).toMatchObject(full);
    expect(await passkeys.verify(user.token, makePasskey(options))).toMatchObject(full);
  });
});

describe('passkeys that are off, or without a site', () => {
  test('403 SIGN_IN_DISABLED except for listing, renaming and deleting, before token and body', async () => {
    const off = await newUsersProject({ settings });
    const mine = passkeysOf(off);
    const user = await off.newUser();
    const credential = await mine.add(user.token);
    const disabled = { status: 403, body: { code: 'SIGN_IN_DISABLED' } };
    await off.developer.dashboard('PATCH', `/api/projects/${off.id}`, { signIn: { passkey: false } });
    await expect.poll(() => off.auth('POST', 'passkeys/authentication')).toMatchObject(disabled);
    for (const path of ['registration', 'registration/verify', 'authentication/verify'])
      await expect.poll(() => off.auth('POST', `passkeys/${path}`, { body: [] })).toMatchObject(disabled);
    expect(await mine.list(user.token)).toHaveLength(1);
    const path = `passkeys/${credential._id}`;
    expect((await off.auth('PATCH', path, { token: user.token, body: { name: 'Key' } })).status).toBe(200);
    expect((await off.auth('DELETE', path, { token: user.token })).status).toBe(200);
  });

  test.each([null, 'http://127.0.0.1:3000', 'http://[::1]:3000'])(
    '400 SITE_URL_REQUIRED when the site URL is %s',
    async (siteUrl) => {
      const without = await newUsersProject({ settings: { ...settings, siteUrl } });
      const { token } = await without.newUser();
      const required = { status: 400, body: { code: 'SITE_URL_REQUIRED' } };
      for (const path of ['registration', 'registration/verify', 'authentication', 'authentication/verify']) {
        const asked = without.auth('POST', `passkeys/${path}`, { token, body: { response: {} } });
        expect(await asked).toMatchObject(required);
      }
    },
  );
});

test('200 by code for an account that another person created; their passkeys are removed', async () => {
  const attacker = await project.newUser();
  const credential = await passkeys.add(attacker.token);
  const begun = makePasskey(await passkeys.options(attacker.token));
  const place = { scope: projectScope(project.id), kind: 'code', addressKey: addressKeyOf(attacker.email) } as const;
  const { token } = await issueTokens(place, attacker.email, attacker.userId);
  expect((await project.auth('POST', 'code/verify', { body: { token } })).status).toBe(200);
  expect(await passkeys.signIn(credential)).toMatchObject(refused);
  expect((await passkeys.verify(attacker.token, begun)).status).toBe(401);
  const [stored] = await storedUsers(project, { email: attacker.email });
  expect(stored?._signIn).not.toHaveProperty('passkeys');
});
