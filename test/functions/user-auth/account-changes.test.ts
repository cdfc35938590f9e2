import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { accountChanges } from '../../../shared/accounts/account-mail.ts';
import { accountMailFrom } from '../../../shared/mail/content.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { shownCode } from '../../support/clients/authenticator.ts';
import { codeIn, mailAbout } from '../../support/clients/inbox.ts';
import { makePasskey } from '../../support/clients/passkey-device.ts';
import { editUser, newSocialProject, signInWith } from '../../support/clients/social.ts';
import { passkeysOf } from '../../support/fixtures/passkeys.ts';
import { changeStoredUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

const changed = /^Your account at .* has changed$/;
const newPassword = 'another horse battery';

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { secondFactor: 'optional', passkey: true } } });
});

/** Number of accepted emails to an address; they are logged before the response. */
const accepted = (email: string) => mailLogs.countDocuments({ to: email, templateUsed: 'account-change' });

/** A user with or without a verified address. */
const newUser = async (emailVerified = true) => {
  const user = await project.newUser();
  await changeStoredUsers(project, { email: user.email }, { emailVerified });
  return user;
};

type User = Awaited<ReturnType<typeof newUser>>;

const changePassword = ({ token, password }: User, currentPassword = password) =>
  project.auth('PUT', 'change-password', { token, body: { currentPassword, newPassword } });

const setUp = async ({ token }: User): Promise<string> => {
  const begun = await project.auth<{ data: { secret: string } }>('POST', 'second-factor/totp', { token });
  const body = { code: shownCode(begun.body.data.secret) };
  const done = await project.auth<{ data: { recoveryCodes: string[] } }>('POST', 'second-factor/totp/confirm', {
    token,
    body,
  });
  return done.body.data.recoveryCodes[0] ?? '';
};

describe('a user with a verified address gets one email', () => {
  test('when the password was changed', async () => {
    const user = await newUser();
    expect((await changePassword(user)).status).toBe(200);
    expect(await accepted(user.email)).toBe(1);
    const { subject, text } = await mailAbout(user.email, changed);
    expect(subject).toBe('Your account at test project has changed');
    expect(text).toContain(accountChanges.passwordChanged);
  });

  test('when the password was reset', async () => {
    const user = await newUser();
    await project.auth('POST', 'request-password-reset', { body: { email: user.email } });
    const otp = codeIn(await mailAbout(user.email, /^Reset/));
    const reset = await project.auth('POST', 'reset-password', { body: { email: user.email, otp, newPassword } });
    expect(reset.status).toBe(200);
    expect((await mailAbout(user.email, changed)).text).toContain(accountChanges.passwordChanged);
    expect(await accepted(user.email)).toBe(1);
  });

  test('when the recovery codes were replaced', async () => {
    const user = await newUser();
    const recoveryCode = await setUp(user);
    const { token } = user;
    const renewed = await project.auth('POST', 'second-factor/recovery-codes', { token, body: { recoveryCode } });
    expect(renewed.status).toBe(200);
    expect(await accepted(user.email)).toBe(2);
  });

  test('when a second factor was set up, and when it was removed', async () => {
    const user = await newUser();
    const recoveryCode = await setUp(user);
    expect((await mailAbout(user.email, changed)).text).toContain(accountChanges.factorAdded);
    const { token } = user;
    expect((await project.auth('DELETE', 'second-factor/totp', { token, body: { recoveryCode } })).status).toBe(200);
    expect(await accepted(user.email)).toBe(2);
  });

  test('when a passkey was added, and when it was deleted, without its name', async () => {
    const user = await newUser();
    const { token } = user;
    const passkeys = passkeysOf(project);
    const { response } = makePasskey(await passkeys.options(token));
    const { body, status } = await passkeys.verify(token, { response, name: 'Win at evil.example' });
    expect(status).toBe(201);
    const { text } = await mailAbout(user.email, changed);
    expect(text).toContain(accountChanges.passkeyAdded);
    expect(text).not.toContain('Win');
    expect((await project.auth('DELETE', `passkeys/${body.data._id}`, { token })).status).toBe(200);
    expect(await accepted(user.email)).toBe(2);
  });

  test('when a provider was linked by address, once, and when it was unlinked', async () => {
    const social = await newSocialProject();
    const first = await signInWith(social, 'google', 'ada@example.com');
    const linked = await signInWith(social, 'github', 'ada');
    expect(linked).toMatchObject({ userId: first.userId, linkedByEmail: 'true' });
    const logs = { projectId: new ObjectId(social.id), templateUsed: 'account-change' };
    const told = () => mailLogs.countDocuments(logs);
    expect(await told()).toBe(1);
    await signInWith(social, 'github', 'ada');
    expect(await told()).toBe(1);
    const email = `${social.id}@example.com`;
    await editUser(social, { _id: new ObjectId(first.userId) }, { $set: { email } });
    const again = await signInWith(social, 'google', 'ada@example.com');
    const path = '/api/userAuth/social/github';
    expect((await social.api('DELETE', path, { key: social.publishableKey, token: again.token })).status).toBe(200);
    expect((await mailAbout(email, changed)).text).toContain('Signing in with GitHub was removed.');
  });
});

describe('no email is sent', () => {
  test('to an address that was never verified', async () => {
    const user = await newUser(false);
    await setUp(user);
    await passkeysOf(project).add(user.token);
    expect((await changePassword(user)).status).toBe(200);
    expect(await accepted(user.email)).toBe(0);
  });

  test('about a rejected change', async () => {
    const user = await newUser();
    expect((await changePassword(user, 'a wrong password')).status).toBe(401);
    const { options, verify } = passkeysOf(project);
    const { response } = makePasskey(await options(user.token), { origin: 'https://evil.example' });
    expect((await verify(user.token, { response })).status).toBe(400);
    expect((await project.auth('DELETE', `passkeys/${'0'.repeat(24)}`, { token: user.token })).status).toBe(404);
    expect(await accepted(user.email)).toBe(0);
  });
});

describe('the content', () => {
  test('has no link from a provider’s name', () => {
    expect(accountChanges.providerLinked('Win at https://evil.example now')).toBe(
      'Signing in with Win at now was added.',
    );
    expect(accountChanges.providerUnlinked('<b>acme</b>\r\nBcc: x@example.com')).not.toMatch(/[<>@\r\n]/);
  });

  test('is the project’s own template when that shows the change', () => {
    const mail = { template: 'account-change', siteName: 'Acme' } as const;
    const own = (text: string) => accountMailFrom({ subject: 'News', html: null, text }, mail, { change: 'It is so.' });
    expect(own('{{siteName}}: {{change}}').text).toBe('Acme: It is so.');
    expect(own('Nothing').text).toContain('It is so.');
  });
});
