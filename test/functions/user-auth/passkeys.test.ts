import { beforeAll, expect, test } from 'vitest';
import { inParallel, tally } from '../../support/clients/client.ts';
import { makePasskey, usePasskey } from '../../support/clients/passkey-device.ts';
import { passkeysOf, passkeySettings as settings } from '../../support/fixtures/passkeys.ts';
import { changesOf } from '../../support/fixtures/stored-users.ts';
import { claimsOf, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

const refused = { status: 401, body: { code: 'INVALID_CREDENTIALS' } };

let project: UsersProject;
let passkeys: ReturnType<typeof passkeysOf>;

beforeAll(async () => {
  project = await newUsersProject({ settings });
  passkeys = passkeysOf(project);
});

test('201 and listed; signs in with both factors, which a refresh keeps; the key is not shown', async () => {
  const user = await project.newUser();
  const { credential, response } = makePasskey(await passkeys.options(user.token));
  const added = await passkeys.verify(user.token, { response, name: ' Phone ' });
  const view = { _id: expect.any(String), name: 'Phone', createdAt: expect.any(String), lastUsedAt: null };
  expect(added).toMatchObject({ status: 201, body: { data: { ...view, locked: false } } });
  expect(Object.keys(added.body.data).sort()).toEqual(['_id', 'createdAt', 'lastUsedAt', 'locked', 'name']);
  const entered = await passkeys.signIn(credential);
  expect(entered).toMatchObject({ status: 200, body: { userId: user.userId, user: { email: user.email } } });
  expect(claimsOf(entered.body.accessToken).amr).toEqual(['passkey', 'mfa']);
  const refreshed = await project.refresh(entered.body.refreshToken);
  expect(claimsOf(refreshed.body.accessToken).amr).toEqual(['passkey', 'mfa']);
  expect(await passkeys.list(user.token)).toEqual([{ ...added.body.data, lastUsedAt: expect.any(String) }]);
  const me = await project.auth('GET', 'me', { token: user.token });
  expect(JSON.stringify(me.body)).not.toContain(credential.id);
});

test('200 is no change of the user for webhooks', async () => {
  const user = await project.newUser();
  const credential = await passkeys.add(user.token);
  const before = await changesOf(project, user);
  expect(await passkeys.signIn(credential)).toMatchObject({ status: 200 });
  expect(await changesOf(project, user)).toEqual(before);
});

test.each([5, 'x', []])('400 VALIDATION_FAILED for the response %j', async (response) => {
  const message = 'response must be an Object';
  expect(await project.auth('POST', 'passkeys/authentication/verify', { body: { response } })).toMatchObject({
    status: 400,
    body: { message: `Validation failed: ${message}`, errors: [{ field: 'response', message }] },
  });
});

test('200 with options for the site, its user and existing passkeys', async () => {
  const user = await project.newUser();
  const { id } = await passkeys.add(user.token);
  expect(await passkeys.options(user.token)).toMatchObject({
    rp: { id: 'app.example.com', name: expect.any(String) },
    user: { id: Buffer.from(user.userId, 'hex').toString('base64url'), name: user.email },
    excludeCredentials: [{ type: 'public-key', id }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
    timeout: 300_000,
  });
  expect(await passkeys.challenge()).toEqual({
    rpId: 'app.example.com',
    challenge: expect.stringMatching(/^[\w-]{43}$/),
    timeout: 300_000,
    userVerification: 'required',
  });
});

test('200 for one of 50 concurrent requests with one signature, 401 for the others and later', async () => {
  const user = await project.newUser();
  const credential = await passkeys.add(user.token);
  const sent = usePasskey(credential, await passkeys.challenge());
  const answers = await inParallel(50, () => passkeys.enter(sent));
  expect(tally(answers)).toEqual({ 200: 1, 401: 49 });
  expect(await passkeys.enter(sent)).toMatchObject(refused);
});
