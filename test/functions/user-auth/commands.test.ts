import { beforeAll, describe, expect, test } from 'vitest';
import { handler as deletePasskey } from '../../../functions/user-auth/delete-passkey.ts';
import { handler as getJwks } from '../../../functions/user-auth/get-jwks.ts';
import { handler as getMe } from '../../../functions/user-auth/get-me.ts';
import { handler as getPublicProfile } from '../../../functions/user-auth/get-public-profile.ts';
import { handler as listPasskeys } from '../../../functions/user-auth/list-passkeys.ts';
import { handler as refreshToken } from '../../../functions/user-auth/refresh-token.ts';
import { handler as registerPasskey } from '../../../functions/user-auth/register-passkey.ts';
import { handler as logIn } from '../../../functions/user-auth/sign-in.ts';
import { handler as signInByCode } from '../../../functions/user-auth/sign-in-by-code.ts';
import { handler as signInWithPasskey } from '../../../functions/user-auth/sign-in-with-passkey.ts';
import { handler as startPasskeySignIn } from '../../../functions/user-auth/start-passkey-sign-in.ts';
import { handler as startRegistration } from '../../../functions/user-auth/start-registration.ts';
import { handler as updateProfile } from '../../../functions/user-auth/update-profile.ts';
import { addressKeyOf, issueTokens } from '../../../shared/accounts/email-tokens.ts';
import { clock } from '../../../shared/core/clock.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import {
  type CreationOptions,
  makePasskey,
  type RequestOptions,
  usePasskey,
} from '../../support/clients/passkey-device.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { changeStoredUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';
process.env.AUTH_RATE_LIMIT = '1000000';
process.env.CREDENTIAL_RATE_LIMIT = '1000000';

const count = 'dynamodb UpdateItemCommand';
const find = 'mongodb find';
const transaction = 'dynamodb TransactWriteItemsCommand';

let project: UsersProject;
let user: Awaited<ReturnType<UsersProject['newUser']>>;

const run =
  (handler: Parameters<typeof invoke>[0], options: InvokeOptions = {}) =>
  () =>
    invoke(handler, { key: project.publishableKey, ...options });

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { emailCode: true, passkey: true } } });
  user = await project.newUser({ username: 'ann' });
  const frozen = Date.now();
  // A stopped clock keeps the project cached during the tests.
  clock.now = () => frozen;
  await run(getMe, { token: user.token })();
  await run(updateProfile, { token: user.token, body: { name: 'Ann' } })();
  // The account then knows the device of these tests.
  await run(logIn, { body: { email: user.email, password: user.password } })();
  await run(getJwks, { params: { projectId: project.id } })();
});

describe('a warm request costs, in addition to the count of requests', () => {
  test('me: 1 find', async () => {
    expect(await commandsOf(run(getMe, { token: user.token }))).toEqual([count, find]);
  });

  test('refresh: 1 transaction', async () => {
    const headers = { 'x-refresh-token': user.refreshToken };
    expect(await commandsOf(run(refreshToken, { headers }))).toEqual([transaction, count]);
  });

  test('refresh with an Idempotency-Key: 1 transaction', async () => {
    const { refreshToken: token } = await project.newUser();
    const headers = { 'x-refresh-token': token, 'idempotency-key': 'one-renewal' };
    expect(await commandsOf(run(refreshToken, { headers }))).toEqual([transaction, count]);
  });

  test('sign-in: 1 find and 1 transaction, and two counts of failures that are undone', async () => {
    const { email, password } = user;
    const commands = await commandsOf(run(logIn, { body: { email, password } }));
    expect(commands).toEqual([transaction, count, count, count, count, count, find]);
  });

  test('sign-in from a new device: 1 more write and the email', async () => {
    const { email, password } = await project.newUser();
    await changeStoredUsers(project, { email }, { emailVerified: true });
    const commands = await commandsOf(run(logIn, { body: { email, password } }));
    const mail = [count, 'mongodb insert', 'sqs SendMessageCommand'];
    const signIn = [transaction, count, count, count, count, count, find];
    expect(commands).toEqual([...signIn, 'mongodb update', ...mail].sort());
  });

  test('sign-in with a wrong password: 1 find, two counts of failures, and the end of the attempt', async () => {
    const commands = await commandsOf(run(logIn, { body: { email: user.email, password: 'not the password' } }));
    expect(commands).toEqual([count, count, count, count, find]);
  });

  test('sign-in by passkey: 1 find, 1 write and 1 transaction, and the challenge', async () => {
    const options = await invoke(startRegistration, { key: project.publishableKey, token: user.token });
    const { credential, response } = makePasskey(options.body.data as CreationOptions);
    await run(registerPasskey, { token: user.token, body: { response } })();
    const asked = await invoke(startPasskeySignIn, { key: project.publishableKey });
    const request = asked.body.data as RequestOptions;
    const body = { response: usePasskey(credential, request) };
    const commands = await commandsOf(run(signInWithPasskey, { body }));
    expect(commands).toEqual([transaction, count, count, 'mongodb find', 'mongodb update'].sort());
    const nobody = { response: usePasskey({ ...credential, userHandle: 'A'.repeat(16) }, request) };
    const other = { response: usePasskey({ ...credential, id: 'AAAA' }, request) };
    for (const sent of [nobody, other])
      expect(await commandsOf(run(signInWithPasskey, { body: sent }))).toEqual([count, find]);
  });

  test('sign-in by code: 1 find, 1 write and 1 transaction, and the count of attempts', async () => {
    await changeStoredUsers(project, { email: user.email }, { emailVerified: true });
    const place = { scope: projectScope(project.id), kind: 'code', addressKey: addressKeyOf(user.email) } as const;
    const { code } = await issueTokens(place, user.email, user.userId);
    const commands = await commandsOf(run(signInByCode, { body: { email: user.email, code } }));
    expect(commands).toEqual([transaction, count, count, count, find]);
  });

  test('adding and deleting a passkey: 1 write, 1 find or 2 and the email', async () => {
    const { email, token } = await project.newUser();
    await changeStoredUsers(project, { email }, { emailVerified: true });
    const session = 'dynamodb GetItemCommand';
    const mail = [count, 'mongodb insert', 'sqs SendMessageCommand'];
    const options = await invoke(startRegistration, { key: project.publishableKey, token });
    const { response } = makePasskey(options.body.data as CreationOptions);
    const added = await commandsOf(run(registerPasskey, { token, body: { response } }));
    expect(added).toEqual([session, count, count, find, 'mongodb findAndModify', ...mail].sort());
    const listed = await invoke(listPasskeys, { key: project.publishableKey, token });
    const params = { id: (listed.body.data as { _id: string }[])[0]?._id ?? '' };
    const deleted = await commandsOf(run(deletePasskey, { token, params }));
    const sessions = 'dynamodb QueryCommand';
    expect(deleted).toEqual([session, count, count, sessions, find, find, 'mongodb findAndModify', ...mail].sort());
  });

  test('update-profile: 1 findAndModify', async () => {
    const update = run(updateProfile, { token: user.token, body: { name: 'Bea' } });
    expect(await commandsOf(update)).toEqual([count, 'mongodb findAndModify']);
  });

  test('public profile: 1 find', async () => {
    expect(await commandsOf(run(getPublicProfile, { params: { username: 'ann' } }))).toEqual([count, find]);
  });

  test('JWKS: nothing', async () => {
    expect(await commandsOf(run(getJwks, { params: { projectId: project.id } }))).toEqual([count]);
  });
});
