import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as logIn } from '../../../functions/user-auth/sign-in.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { mailAbout } from '../../support/clients/inbox.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { answerForQueues } from '../../support/faults/aws-answers.ts';
import { auth } from '../../support/fixtures/developers.ts';
import { passkeysOf } from '../../support/fixtures/passkeys.ts';
import { newDeveloper } from '../../support/fixtures/project.ts';
import { changeStoredUsers, storedUsers } from '../../support/fixtures/stored-users.ts';
import { type Credentials, newCredentials, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';
const chrome = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36';
const inHeader = { 'x-refresh-token-mode': 'header' };

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { passkey: true, anonymous: true } } });
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Number of accepted emails to an address; they are logged before the response. */
const told = (email: string) => mailLogs.countDocuments({ to: email, templateUsed: 'new-device' });

const from = (userAgent: string) => ({ ...inHeader, 'user-agent': userAgent });
const enter = async (user: Credentials, userAgent: string) => {
  const { email, password } = user;
  const answer = await project.logIn({ email, password }, from(userAgent));
  expect(answer.status).toBe(200);
  return answer.body;
};

/** A user who signed up with Firefox, with or without a verified address. */
const newUser = async (emailVerified = true) => {
  const credentials = newCredentials();
  const { status, body } = await project.signUp(credentials, from(firefox));
  expect(status).toBe(201);
  await changeStoredUsers(project, { email: credentials.email }, { emailVerified });
  return { ...credentials, token: body.accessToken };
};

const devicesOf = async (email: string) => (await storedUsers(project, { email }))[0]?._signIn;

describe('a user with a verified address gets one email', () => {
  test('about a sign-in with another browser, with system, address and time, and never again about the same', async () => {
    const user = await newUser();
    const before = (await storedUsers(project, { email: user.email }))[0];
    await enter(user, firefox);
    expect(await told(user.email)).toBe(0);
    await enter(user, chrome);
    const { subject, text } = await mailAbout(user.email, /^New sign-in/);
    expect(subject).toBe('New sign-in to your account at test project');
    expect(text).toMatch(/to your account: Chrome on Windows, (127\.0\.0\.1|::1), \d{4}-\d\d-\d\d \d\d:\d\d UTC\./);
    await enter(user, chrome.replace('140', '141'));
    await enter(user, firefox);
    expect(await told(user.email)).toBe(1);
    expect(await devicesOf(user.email)).toEqual({ devices: ['Firefox on Linux', 'Chrome on Windows'] });
    const after = (await storedUsers(project, { email: user.email }))[0];
    expect(after?.updatedAt).toEqual(before?.updatedAt);
  });

  test('about 50 concurrent sign-ins', async () => {
    const user = await newUser();
    const passkeys = passkeysOf(project);
    const credential = await passkeys.add(user.token);
    // The passkey's device runs in node, which is the new device.
    const answers = await inParallel(50, () => passkeys.signIn({ ...credential }, { counter: 0 }));
    expect(tally(answers)).toEqual({ 200: 50 });
    expect(await told(user.email)).toBe(1);
  });

  test('without any text of the client’s own', async () => {
    const user = await newUser();
    await enter(user, 'Win-at-evil.example {{link}} <b>');
    const { text, html } = await mailAbout(user.email, /^New sign-in/);
    for (const body of [text, html]) expect(body).not.toMatch(/Win|evil|<b>/);
    expect(text).toContain('An app');
  });
});

describe('no email is sent', () => {
  test('to an address that was never verified; the device is stored', async () => {
    const user = await newUser(false);
    await enter(user, chrome);
    await changeStoredUsers(project, { email: user.email }, { emailVerified: true });
    await enter(user, chrome);
    expect(await told(user.email)).toBe(0);
  });

  test('about the first device of an account without stored devices, but about its second', async () => {
    const user = await newUser();
    await changeStoredUsers(project, { email: user.email }, { _signIn: {} });
    await enter(user, chrome);
    expect(await told(user.email)).toBe(0);
    await enter(user, firefox);
    expect(await told(user.email)).toBe(1);
  });

  test('about a refresh, a wrong password or a first factor', async () => {
    const user = await newUser();
    const { refreshToken = '' } = await enter(user, firefox);
    const headers = { ...from(chrome), 'x-refresh-token': refreshToken };
    expect((await project.auth('POST', 'refresh-token', { headers })).status).toBe(200);
    const wrong = { email: user.email, password: 'not the password' };
    expect((await project.logIn(wrong, from(chrome))).status).toBe(401);
    const totp = { sealed: '', lastStep: 0, recovery: [] };
    await changeStoredUsers(project, { email: user.email }, { '_signIn.totp': totp });
    expect((await project.logIn(user, from(chrome))).body.code).toBe('SECOND_FACTOR_REQUIRED');
    expect(await devicesOf(user.email)).toEqual({ totp, devices: ['Firefox on Linux'] });
    expect(await told(user.email)).toBe(0);
  });

  test('when a user is anonymous; the device is known when they get an address', async () => {
    const { body } = await project.auth<{ accessToken: string }>('POST', 'anonymous', { headers: from(chrome) });
    const credentials = newCredentials();
    await project.auth('POST', 'anonymous/upgrade', { token: body.accessToken, body: credentials });
    await changeStoredUsers(project, { email: credentials.email }, { emailVerified: true });
    await enter(credentials, chrome);
    expect(await told(credentials.email)).toBe(0);
    await enter(credentials, firefox);
    expect(await told(credentials.email)).toBe(1);
  });
});

test('an account stores its ten latest devices', async () => {
  const user = await newUser();
  for (let n = 0; n < 11; n++) await enter(user, `app${String.fromCharCode(97 + n)}/1`);
  expect(await devicesOf(user.email)).toEqual({
    devices: Array.from({ length: 10 }, (_, n) => `app${String.fromCharCode(98 + n)}`),
  });
});

test('200 when the email cannot be queued', async () => {
  const { email, password } = await newUser();
  const asked = answerForQueues(() => {
    throw new Error('The queue is out of reach');
  });
  const answer = await invoke(logIn, { key: project.publishableKey, body: { email, password } });
  expect(answer.status).toBe(200);
  expect(asked.map(({ operation }) => operation)).toContain('SendMessage');
  expect(await devicesOf(email)).toEqual({ devices: ['Firefox on Linux', 'test'] });
});

test('a developer is notified like a user', async () => {
  const { email, password } = await newDeveloper();
  for (let n = 0; n < 2; n++) {
    const headers = { 'user-agent': chrome };
    expect((await auth('POST', 'login', { body: { email, password }, headers })).status).toBe(200);
  }
  expect((await mailAbout(email, /^New sign-in/)).text).toContain('Chrome on Windows');
  expect(await told(email)).toBe(1);
});
