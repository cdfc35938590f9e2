import { describe, expect, test } from 'vitest';
import { accountChanges } from '../../../shared/accounts/account-mail.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { codeIn, mailAbout } from '../../support/clients/inbox.ts';
import { auth, guardDeveloper } from '../../support/fixtures/developers.ts';
import { developerPasskeys } from '../../support/fixtures/passkeys.ts';
import { newDeveloper, newUnverified } from '../../support/fixtures/project.ts';

const changed = 'Your account at Basalt has changed';
const newPassword = 'another horse battery';

/** Returns the number of such emails accepted for an address: they are logged before the response. */
const accepted = (email: string) =>
  mailLogs.countDocuments({ to: email, projectId: null, templateUsed: 'account-change' });

const told = async (email: string): Promise<string> => {
  const { subject, text } = await mailAbout(email, /has changed$/);
  expect(subject).toBe(changed);
  return text;
};

describe('a developer with a verified address gets one email', () => {
  test('when the password is changed, and another one when it is reset', async () => {
    const { email, password: currentPassword, token } = await newDeveloper();
    const body = { currentPassword, newPassword };
    expect((await auth('PUT', 'change-password', { token, body })).status).toBe(200);
    expect(await told(email)).toContain(accountChanges.passwordChanged);
    expect(await accepted(email)).toBe(1);
    await auth('POST', 'request-password-reset', { body: { email } });
    const otp = codeIn(await mailAbout(email, /^Reset/));
    const reset = { email, otp, newPassword: 'a third horse battery' };
    expect((await auth('POST', 'reset-password', { body: reset })).status).toBe(200);
    expect(await accepted(email)).toBe(2);
  });

  test('when a second factor is set up, and when it is removed', async () => {
    const { email, token } = await newDeveloper();
    const { recoveryCodes } = await guardDeveloper(token);
    expect(await told(email)).toContain(accountChanges.factorAdded);
    const body = { recoveryCode: recoveryCodes[0] };
    expect((await auth('DELETE', 'second-factor/totp', { token, body })).status).toBe(200);
    expect(await accepted(email)).toBe(2);
  });

  test('when a passkey is added, and when it is deleted', async () => {
    const { email, token } = await newDeveloper();
    const { _id } = await developerPasskeys().add(token);
    expect(await told(email)).toContain(accountChanges.passkeyAdded);
    expect((await auth('DELETE', `passkeys/${_id}`, { token })).status).toBe(200);
    expect(await accepted(email)).toBe(2);
  });
});

describe('no developer gets an email', () => {
  test('when the address is not verified, because it may belong to another person', async () => {
    const { email, token, password: currentPassword } = await newUnverified();
    await guardDeveloper(token);
    await developerPasskeys().add(token);
    const body = { currentPassword, newPassword };
    expect((await auth('PUT', 'change-password', { token, body })).status).toBe(200);
    expect(await accepted(email)).toBe(0);
  });

  test('when the change is rejected', async () => {
    const { email, token } = await newDeveloper();
    const body = { currentPassword: 'a wrong password', newPassword };
    expect((await auth('PUT', 'change-password', { token, body })).status).toBe(401);
    const { make, options, verify } = developerPasskeys();
    const made = make(await options(token), { origin: 'https://evil.example' });
    expect((await verify(token, made)).status).toBe(400);
    expect((await auth('DELETE', `passkeys/${'0'.repeat(24)}`, { token })).status).toBe(404);
    expect(await accepted(email)).toBe(0);
  });
});
