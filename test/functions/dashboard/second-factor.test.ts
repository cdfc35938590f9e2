import { describe, expect, test } from 'vitest';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { shownCode } from '../../support/clients/authenticator.ts';
import { cookieOf } from '../../support/clients/client.ts';
import {
  age,
  auth,
  type DashboardSignIn,
  guardDeveloper,
  logIn,
  refresh,
  storedDeveloper,
} from '../../support/fixtures/developers.ts';
import { idOf, newPersonalToken } from '../../support/fixtures/members.ts';
import { type Developer, newDeveloper } from '../../support/fixtures/project.ts';
import { claimsOf } from '../../support/fixtures/users.ts';

const invalid = { status: 401, body: { code: 'INVALID_SECOND_FACTOR' }, cookies: [] };
const reauthentication = { status: 403, body: { code: 'REAUTHENTICATION_REQUIRED' } };

const begin = (token: string) =>
  auth<{ data: { secret: string; uri: string } }>('POST', 'second-factor/totp', { token });
const confirm = (token: string, code: string) =>
  auth<{ data: { recoveryCodes: string[] } }>('POST', 'second-factor/totp/confirm', { token, body: { code } });
const remove = (token: string, body: object) => auth('DELETE', 'second-factor/totp', { token, body });
const verify = (body: object) => auth<DashboardSignIn>('POST', 'second-factor/verify', { body });
const me = async (token: string) => (await auth<{ data: object }>('GET', 'me', { token })).body.data;

const newGuarded = async () => {
  const developer = await newDeveloper();
  return { ...developer, ...(await guardDeveloper(developer.token)) };
};

const ticketFor = async ({ email, password }: Developer): Promise<string> => {
  const answer = await logIn(email, password);
  expect(answer).toMatchObject({ status: 401, body: { code: 'SECOND_FACTOR_REQUIRED' }, cookies: [] });
  return String((answer.body as unknown as { ticket: string }).ticket);
};

describe('an authenticator app of a developer', () => {
  test('200 with a secret for the app and ten recovery codes; other sessions end, script tokens stay', async () => {
    const developer = await newDeveloper();
    const other = cookieOf(await logIn(developer.email, developer.password));
    const script = await newPersonalToken(developer, ['account:read']);
    expect(await me(developer.token)).toMatchObject({ secondFactor: false });
    const { secret, uri, recoveryCodes } = await guardDeveloper(developer.token);
    expect(uri).toBe(`otpauth://totp/Basalt:${encodeURIComponent(developer.email)}?secret=${secret}&issuer=Basalt`);
    expect(new Set(recoveryCodes).size).toBe(10);
    expect(await me(developer.token)).toMatchObject({ secondFactor: true });
    expect(await me(script.token)).toMatchObject({ secondFactor: true });
    expect((await refresh(other)).status).toBe(401);
    const kept = JSON.stringify(await storedDeveloper(await idOf(developer)));
    for (const text of [secret, ...recoveryCodes]) expect(kept).not.toContain(text);
  });

  test('403 SCOPE_REQUIRED for a personal access token with any scopes', async () => {
    const developer = await newDeveloper();
    const { token } = await newPersonalToken(developer, ['account:read']);
    const refused = { status: 403, body: { code: 'SCOPE_REQUIRED' } };
    expect(await begin(token)).toMatchObject(refused);
    expect(await confirm(token, '000000')).toMatchObject(refused);
    expect(await remove(token, { code: '000000' })).toMatchObject(refused);
  });

  test('401 for a wrong code, 409 when an app is already set up, 404 when there is no app to remove', async () => {
    const { token } = await newDeveloper();
    expect(await confirm(token, '000000')).toMatchObject(invalid);
    expect(await remove(token, { code: '000000' })).toMatchObject({
      status: 404,
      body: { code: 'SECOND_FACTOR_NOT_FOUND' },
    });
    await guardDeveloper(token);
    expect(await begin(token)).toMatchObject({ status: 409, body: { code: 'SECOND_FACTOR_EXISTS' } });
    expect(await remove(token, { recoveryCode: 'AAAA-AAAA' })).toMatchObject(invalid);
  });

  test('400 for a body with neither code nor recovery code, or with too many fields', async () => {
    const { token } = await newDeveloper();
    const refused = (code: string) => ({ status: 400, body: { code } });
    expect(await remove(token, {})).toMatchObject(refused('INVALID_BODY'));
    expect(await verify({ ticket: 'x' })).toMatchObject(refused('INVALID_BODY'));
    expect(await verify({ ticket: 'x', code: '000000', more: 1 })).toMatchObject(refused('VALIDATION_FAILED'));
  });

  test('200 for its removal by a recovery code; the password alone signs in again', async () => {
    const developer = await newGuarded();
    expect((await remove(developer.token, { recoveryCode: developer.recoveryCodes[0] })).status).toBe(200);
    expect(await logIn(developer.email, developer.password)).toMatchObject({
      status: 200,
      body: { data: { developer: { secondFactor: false } } },
    });
  });

  test('403 REAUTHENTICATION_REQUIRED for every change of it, ten minutes after the sign-in', async () => {
    const [plain, developer] = [await newDeveloper(), await newGuarded()];
    await Promise.all([age(plain.token, 11), age(developer.token, 11)]);
    expect(await begin(plain.token)).toMatchObject(reauthentication);
    expect(await confirm(plain.token, '000000')).toMatchObject(reauthentication);
    const { token, password, recoveryCodes } = developer;
    expect(await remove(token, { recoveryCode: recoveryCodes[0] })).toMatchObject(reauthentication);
    const change = { token, body: { currentPassword: password, newPassword: 'another password' } };
    expect(await auth('PUT', 'change-password', change)).toMatchObject(reauthentication);
    const deletion = { token, body: { password } };
    expect(await auth('DELETE', 'account', deletion)).toMatchObject(reauthentication);
    await age(token, 9);
    expect(await auth('DELETE', 'account', { token, body: { password: 'wrong' } })).toMatchObject({ status: 401 });
    expect((await auth('PUT', 'change-password', change)).status).toBe(200);
  });

  test('202 for the account’s deletion, and the app’s data is deleted', async () => {
    const developer = await newGuarded();
    const id = await idOf(developer);
    const deletion = { token: developer.token, body: { password: developer.password } };
    expect((await auth('DELETE', 'account', deletion)).status).toBe(202);
    const stored = await storedDeveloper(id);
    expect(stored?.deletingSince).toBeInstanceOf(Date);
    expect(stored?._signIn ?? {}).toEqual({});
  });

  test('403 REAUTHENTICATION_REQUIRED for deleting an account without a password, ten minutes after the sign-in', async () => {
    const { token, email } = await newDeveloper();
    await onControl((db) => db.collection('developers').updateOne({ email }, { $set: { hasPassword: false } }));
    await age(token, 11);
    expect(await auth('DELETE', 'account', { token, body: {} })).toMatchObject(reauthentication);
    await age(token, 9);
    expect((await auth('DELETE', 'account', { token, body: {} })).status).toBe(202);
  });
});

describe('signing in to the dashboard with an authenticator app', () => {
  test('200 with the next code and a cookie, only once; the token names the methods', async () => {
    const developer = await newGuarded();
    const ticket = await ticketFor(developer);
    const code = shownCode(developer.secret, 1);
    const answer = await verify({ ticket, code });
    expect(answer).toMatchObject({ status: 200, body: { data: { developer: { email: developer.email } } } });
    expect(claimsOf(answer.body.data.accessToken).amr).toEqual(['pwd', 'totp', 'mfa']);
    expect((await refresh(cookieOf(answer))).status).toBe(200);
    expect(await verify({ ticket, recoveryCode: developer.recoveryCodes[0] })).toMatchObject(invalid);
    expect(await verify({ ticket: await ticketFor(developer), code })).toMatchObject(invalid);
  });

  test('401 for a ticket from before a password change, and the new password alone is not enough', async () => {
    const developer = await newGuarded();
    const ticket = await ticketFor(developer);
    const body = { currentPassword: developer.password, newPassword: 'another password' };
    expect((await auth('PUT', 'change-password', { token: developer.token, body })).status).toBe(200);
    expect(await verify({ ticket, recoveryCode: developer.recoveryCodes[0] })).toMatchObject(invalid);
    await ticketFor({ ...developer, password: 'another password' });
  });

  test('401 for an invalid ticket', async () => {
    const developer = await newGuarded();
    expect(await verify({ ticket: 'A'.repeat(43), recoveryCode: developer.recoveryCodes[0] })).toMatchObject(invalid);
  });
});
