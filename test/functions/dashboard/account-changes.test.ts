import { describe, expect, test } from 'vitest';
import { accountChanges } from '../../../shared/accounts/account-mail.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { codeIn, mailAbout } from '../../support/clients/inbox.ts';
import { auth, guardDeveloper } from '../../support/fixtures/developers.ts';
import { developerPasskeys } from '../../support/fixtures/passkeys.ts';
import { newDeveloper, newUnverified } from '../../support/fixtures/project.ts';

const changed = 'Your account at Basalt has changed';
const newPassword = 'another horse battery';

/** How many such mails to an address have been accepted: their log is there before an act is answered. */
const accepted = (email: string) =>
  mailLogs.countDocuments({ to: email, projectId: null, templateUsed: 'account-change' });

const told = async (email: string): Promise<string> => {
  const { subject, text } = await mailAbout(email, /has changed$/);
  expect(subject).toBe(changed);
  return text;
};

describe('a developer who has verified their address is told by one mail', () => {
  test('that the password was changed, and by another that it was set anew', async () => {
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

  test('that a second factor was set up, and that it was removed', async () => {
    const { email, token } = await newDeveloper();
    const { recoveryCodes } = await guardDeveloper(token);
    expect(await told(email)).toContain(accountChanges.factorAdded);
    const body = { recoveryCode: recoveryCodes[0] };
    expect((await auth('DELETE', 'second-factor/totp', { token, body })).status).toBe(200);
    expect(await accepted(email)).toBe(2);
  });

  test('that a passkey was added, and that it was deleted', async () => {
    const { email, token } = await newDeveloper();
    const { _id } = await developerPasskeys().add(token);
    expect(await told(email)).toContain(accountChanges.passkeyAdded);
    expect((await auth('DELETE', `passkeys/${_id}`, { token })).status).toBe(200);
    expect(await accepted(email)).toBe(2);
  });
});

describe('no developer is told', () => {
  test('at an address that was never verified, which may be somebody else’s', async () => {
    const { email, token, password: currentPassword } = await newUnverified();
    await guardDeveloper(token);
    await developerPasskeys().add(token);
    const body = { currentPassword, newPassword };
    expect((await auth('PUT', 'change-password', { token, body })).status).toBe(200);
    expect(await accepted(email)).toBe(0);
  });

  test('of what was refused', async () => {
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
