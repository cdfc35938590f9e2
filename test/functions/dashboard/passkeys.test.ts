import { describe, expect, test } from 'vitest';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { cookieOf, inParallel, tally } from '../../support/clients/client.ts';
import { age, auth, guardDeveloper, refresh, storedDeveloper } from '../../support/fixtures/developers.ts';
import { idOf, newPersonalToken } from '../../support/fixtures/members.ts';
import { consoleOrigin, developerPasskeys as passkeys } from '../../support/fixtures/passkeys.ts';
import { newDeveloper } from '../../support/fixtures/project.ts';
import { claimsOf } from '../../support/fixtures/users.ts';

const refused = { status: 401, body: { code: 'INVALID_CREDENTIALS' }, cookies: [] };
const missing = { status: 404, body: { code: 'PASSKEY_NOT_FOUND' } };

const rename = (token: string, id: string, body: object) => auth('PATCH', `passkeys/${id}`, { token, body });
const remove = (token: string, id: string) => auth('DELETE', `passkeys/${id}`, { token });

describe('a passkey of a developer', () => {
  test('201, is listed, and signs in with a cookie as both factors, also when an authenticator app is set up', async () => {
    const developer = await newDeveloper();
    const { add, options, signIn, list } = passkeys();
    const { hostname } = new URL(consoleOrigin());
    expect(await options(developer.token)).toMatchObject({
      rp: { id: hostname, name: 'Basalt' },
      user: { name: developer.email },
    });
    await guardDeveloper(developer.token);
    const credential = await add(developer.token);
    const entered = await signIn(credential);
    expect(entered).toMatchObject({
      status: 200,
      body: { data: { developer: { email: developer.email, secondFactor: true } } },
    });
    const { accessToken } = entered.body.data;
    expect(claimsOf(accessToken).amr).toEqual(['passkey', 'mfa']);
    const refreshed = await refresh(cookieOf(entered));
    expect(claimsOf(refreshed.body.data.accessToken).amr).toEqual(['passkey', 'mfa']);
    const view = { _id: credential._id, name: 'Passkey', locked: false, lastUsedAt: expect.any(String) };
    expect(await list(accessToken)).toEqual([{ ...view, createdAt: expect.any(String) }]);
    const me = await auth('GET', 'me', { token: accessToken });
    expect(JSON.stringify(me.body)).not.toContain(credential.id);
  });

  test('200 for one of 50 concurrent requests with one signature', async () => {
    const { token } = await newDeveloper();
    const { add, challenge, use, enter } = passkeys();
    const sent = use(await add(token), await challenge());
    expect(tally(await inParallel(50, () => enter(sent)))).toEqual({ 200: 1, 401: 49 });
    expect(await enter(sent)).toMatchObject(refused);
  });

  test('is renamed, and deleted by one of eight requests, but not by others; other sessions end, script tokens stay', async () => {
    const [developer, other] = [await newDeveloper(), await newDeveloper()];
    const { token } = developer;
    const script = await newPersonalToken(developer, ['account:read']);
    const { add, signIn, list } = passkeys();
    const credential = await add(token);
    const { _id } = credential;
    expect(await rename(token, _id, { name: 'Key' })).toMatchObject({ status: 200, body: { data: { name: 'Key' } } });
    expect(await rename(token, _id, { name: 'Key', more: 1 })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    });
    expect(await rename(other.token, _id, { name: 'Mine' })).toMatchObject(missing);
    expect(await remove(other.token, _id)).toMatchObject(missing);
    const entered = await signIn(credential);
    expect(tally(await inParallel(8, () => remove(token, _id)))).toEqual({ 200: 1, 404: 7 });
    expect(await signIn(credential)).toMatchObject(refused);
    expect((await refresh(cookieOf(entered))).status).toBe(401);
    expect((await auth('GET', 'me', { token: script.token })).status).toBe(200);
    expect(await list(token)).toEqual([]);
  });

  test('409 LAST_WAY_TO_SIGN_IN when it is the last sign-in method', async () => {
    const { token, email } = await newDeveloper();
    const { add, list } = passkeys();
    const first = await add(token);
    const only = { hasPassword: false, emailVerified: false };
    await onControl((db) => db.collection('developers').updateOne({ email }, { $set: only }));
    expect(await remove(token, first._id)).toMatchObject({ status: 409, body: { code: 'LAST_WAY_TO_SIGN_IN' } });
    const second = await add(token);
    const answers = await Promise.all([first, second].map(({ _id }) => remove(token, _id)));
    expect(tally(answers)).toEqual({ 200: 1, 409: 1 });
    expect(await list(token)).toHaveLength(1);
  });

  test('403 REAUTHENTICATION_REQUIRED to add or delete one eleven minutes after the sign-in', async () => {
    const { token } = await newDeveloper();
    const { _id } = await passkeys().add(token);
    await age(token, 11);
    const reauthentication = { status: 403, body: { code: 'REAUTHENTICATION_REQUIRED' } };
    const call = (path: string, body?: object) => auth('POST', `passkeys/${path}`, { token, body });
    expect(await call('registration')).toMatchObject(reauthentication);
    expect(await call('registration/verify', { response: {} })).toMatchObject(reauthentication);
    expect(await remove(token, _id)).toMatchObject(reauthentication);
    expect((await rename(token, _id, { name: 'Key' })).status).toBe(200);
  });

  test('403 SCOPE_REQUIRED for a personal access token with any scopes', async () => {
    const developer = await newDeveloper();
    const { token } = await newPersonalToken(developer, ['account:read']);
    const scopeRequired = { status: 403, body: { code: 'SCOPE_REQUIRED' } };
    expect(await auth('POST', 'passkeys/registration', { token })).toMatchObject(scopeRequired);
    expect(await auth('GET', 'passkeys', { token })).toMatchObject(scopeRequired);
    expect(await remove(token, 'f'.repeat(24))).toMatchObject(scopeRequired);
  });

  test('401 after the account’s deletion, and the passkey is deleted', async () => {
    const developer = await newDeveloper();
    const { add, signIn } = passkeys();
    const credential = await add(developer.token);
    const id = await idOf(developer);
    const deletion = { token: developer.token, body: { password: developer.password } };
    expect((await auth('DELETE', 'account', deletion)).status).toBe(202);
    expect(await signIn(credential)).toMatchObject(refused);
    expect((await storedDeveloper(id))?._signIn ?? {}).toEqual({});
  });
});
