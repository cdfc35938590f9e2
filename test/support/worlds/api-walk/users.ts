import { shownCode } from '../../clients/authenticator.ts';
import { Browser, formWith, target } from '../../clients/browser.ts';
import { put } from '../files.ts';
import { mailedCode, prepare, type WalkContext } from './context.ts';
import { walkPasskeys } from './passkeys.ts';

const email = 'ada@example.com';
const inHeader = (token: string) => ({ headers: { 'x-refresh-token': token } });

interface SignedIn {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly userId: string;
}

interface SessionList {
  readonly data: readonly { readonly _id: string; readonly current: boolean }[];
}

const gitHub = async ({ open }: WalkContext): Promise<void> => {
  await open.run('begin-sign-in');
  const begun = await open.run('start-sign-in');
  const browser = new Browser();
  const { action, form } = formWith(await browser.open(begun.headers.get('location') ?? ''), 'octocat');
  const { searchParams } = target(await browser.open(action, form));
  const query = { state: searchParams.get('state') ?? '', code: searchParams.get('code') ?? '' };
  const cookie = begun.cookies[0]?.split(';')[0] ?? '';
  await open.run('forward-sign-in');
  const ended = await open.run('finish-sign-in', { query, headers: { cookie } });
  const landing = new URL(ended.headers.get('location') ?? '');
  const token = new URLSearchParams(landing.hash.slice(1)).get('token') ?? '';
  await open.run('exchange-code', { body: { token, rtCode: landing.searchParams.get('rtCode') } });
  const { credentials } = open;
  open.credentials = { ...credentials, userToken: token };
  await open.run('link-provider');
  await open.run('unlink-provider');
  open.credentials = credentials;
};

interface RecoveryCodes {
  readonly data: { readonly recoveryCodes: readonly string[] };
}

const passkeyRows = {
  begin: 'start-registration',
  add: 'register-passkey',
  ask: 'start-passkey-sign-in',
  signIn: 'sign-in-with-passkey',
  list: 'list-passkeys',
  rename: 'rename-passkey',
  remove: 'delete-passkey',
} as const;

/** An end user's account, from sign-up to a session that somebody else ends. */
export const walkUsers = async (context: WalkContext): Promise<void> => {
  const { open, dashboard } = context;
  const signedUp = await open.run<SignedIn>('sign-up');
  const { projectId = '' } = open.params;
  await prepare(context, 'PATCH', `/api/projects/${projectId}/users/${signedUp.body.userId}`, { username: 'ada' });
  await open.run('get-public-profile');
  open.credentials = { ...open.credentials, userToken: signedUp.body.accessToken };
  await open.run('verify-email', { body: { otp: await mailedCode(context, email, /verif|confirm/i) } });
  await open.run('resend-verification-otp');
  const refreshed = await open.run<SignedIn>('refresh-token', inHeader(signedUp.body.refreshToken));
  const signedIn = await open.run<SignedIn>('sign-in');
  open.credentials = { ...open.credentials, userToken: signedIn.body.accessToken };
  await open.run('get-me');
  await open.run('update-profile');
  await open.run('get-security');
  const { body } = await open.run<SessionList>('list-sessions');
  await open.run('sign-out', inHeader(refreshed.body.refreshToken));
  await open.run('sign-in');
  const others = (await open.run<SessionList>('list-sessions')).body.data.filter(({ current }) => !current);
  await open.run('revoke-session', { params: { id: others[0]?._id ?? body.data[0]?._id ?? '' } });
  await open.run('request-email-change');
  await open.run('change-email', { body: { otp: await mailedCode(context, 'ada.new@example.com', /confirm/i) } });
  await prepare(context, 'PATCH', `/api/projects/${projectId}/users/${signedUp.body.userId}`, { email });
  await open.run('change-password');
  await open.run('request-password-reset');
  await open.run('reset-password', { body: { otp: await mailedCode(context, email, /reset/i) } });
  await prepare(context, 'PATCH', `/api/projects/${projectId}`, {
    signIn: { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' },
  });
  await open.run('send-code');
  await open.run('sign-in-by-code', { body: { code: await mailedCode(context, email, /your code/i) } });
  const anonymous = await open.run<SignedIn>('sign-up-anonymously');
  const { credentials } = open;
  open.credentials = { ...credentials, userToken: anonymous.body.accessToken };
  await open.run('upgrade-anonymous');
  const { secret } = (await open.run<{ readonly data: { readonly secret: string } }>('start-totp')).body.data;
  const confirmed = await open.run<RecoveryCodes>('confirm-totp', { body: { code: shownCode(secret) } });
  const [first, second] = confirmed.body.data.recoveryCodes;
  const guarded = { email: 'lin@example.com', password: 'correct horse battery' };
  const refused = await open.refused('sign-in', 401, { key: credentials.publishableKey ?? '', body: guarded });
  await open.run('sign-in-with-factor', {
    body: { ticket: refused.body.ticket, recoveryCode: first },
  });
  const renewed = await open.run<RecoveryCodes>('create-recovery-codes', { body: { recoveryCode: second } });
  await open.run('remove-totp', { body: { recoveryCode: renewed.body.data.recoveryCodes[0] } });
  await walkPasskeys(open, passkeyRows, 'https://shop.example.com');
  await open.run('delete-account');
  open.credentials = credentials;
  await open.run('get-jwks');
  await gitHub(context);

  const made = await dashboard.run('create-user');
  const id = { params: { id: made.body.data._id ?? '' } };
  await dashboard.run('list-users');
  await dashboard.run('get-user', id);
  await dashboard.run('get-user-security', id);
  await dashboard.run('update-user', id);
  await open.run('sign-in', { body: { email: 'alan@example.com' } });
  const sessions = await dashboard.run<{ readonly data: { readonly items: readonly { readonly _id: string }[] } }>(
    'list-user-sessions',
    id,
  );
  const sessionId = sessions.body.data.items[0]?._id ?? '';
  await dashboard.run('revoke-user-session', { params: { ...id.params, sessionId } });
  await dashboard.run('revoke-user-sessions', id);
  await dashboard.run('delete-user', id);
};

interface Requested {
  readonly signedUrl: string;
  readonly filePath: string;
}

/** Three files: one is deleted with the secret key, the others by the developer, who has put one of them there. */
export const walkFiles = async ({ open, dashboard }: WalkContext): Promise<void> => {
  const upload = async (): Promise<string> => {
    const { signedUrl, filePath } = (await open.run<Requested>('request-upload')).body;
    await put(signedUrl, 'hello');
    await open.run('confirm-upload', { body: { filePath } });
    return filePath;
  };
  const [one, other] = [await upload(), await upload()];
  const { signedUrl, filePath } = (await dashboard.run<{ readonly data: Requested }>('request-project-upload')).body
    .data;
  await put(signedUrl, 'hello');
  await dashboard.run('confirm-project-upload', { body: { filePath } });
  await dashboard.run('list-files');
  await open.run('list-own-files');
  await open.run('change-visibility', { body: { path: one } });
  await open.run('sign-links', { body: { paths: [one] } });
  await open.run('delete-file', { body: { path: one } });
  await dashboard.run('change-project-visibility', { body: { path: other } });
  await dashboard.run('sign-project-links', { body: { paths: [other] } });
  await dashboard.run('delete-files', { body: { paths: [other, filePath] } });
};
