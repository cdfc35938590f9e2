import { shownCode } from '../../clients/authenticator.ts';
import { Browser, formWith, target } from '../../clients/browser.ts';
import { linkIn, mailAbout } from '../../clients/inbox.ts';
import { mailedCode, prepare, setPlan, type WalkContext } from './context.ts';
import { walkPasskeys } from './passkeys.ts';
import type { Data } from './walk.ts';

const email = 'grace@example.com';

/** `name=value` without the name. */
const cookieOf = (cookies: readonly string[]): string => cookies[0]?.split(';')[0]?.split('=')[1] ?? '';

interface Told {
  readonly data: { readonly secret?: string; readonly recoveryCodes?: readonly string[] };
}

interface SessionList {
  readonly data: { readonly items: readonly { readonly _id: string; readonly current: boolean }[] };
}

const gitHub = async ({ dashboard }: WalkContext): Promise<void> => {
  const begun = await dashboard.run('start-developer-sign-in');
  const browser = new Browser();
  const { action, form } = formWith(await browser.open(begun.headers.get('location') ?? ''), 'octocat');
  const { searchParams } = target(await browser.open(action, form));
  const query = { state: searchParams.get('state') ?? '', code: searchParams.get('code') ?? '' };
  const ended = await dashboard.run('finish-developer-sign-in', {
    query,
    headers: { cookie: begun.cookies[0]?.split(';')[0] ?? '' },
  });
  const landing = new URL(ended.headers.get('location') ?? '');
  const token = new URLSearchParams(landing.hash.slice(1)).get('token') ?? '';
  await dashboard.run('exchange-developer-code', { body: { token, rtCode: landing.searchParams.get('rtCode') } });
};

/** An authenticator app, a log-in with it, and its end. */
const factor = async ({ dashboard }: WalkContext, password: string): Promise<void> => {
  const { secret = '' } = (await dashboard.run<Told>('start-developer-totp')).body.data;
  const confirmed = await dashboard.run<Told>('confirm-developer-totp', { body: { code: shownCode(secret) } });
  const [first, second] = confirmed.body.data.recoveryCodes ?? [];
  const { body } = await dashboard.refused('sign-in-developer', 401, { body: { email, password } });
  await dashboard.run('sign-in-developer-with-factor', { body: { ticket: body.ticket, recoveryCode: first } });
  await dashboard.run('remove-developer-totp', { body: { recoveryCode: second } });
};

const passkeyRows = {
  begin: 'start-developer-registration',
  add: 'register-developer-passkey',
  ask: 'start-developer-passkey-sign-in',
  signIn: 'sign-in-developer-with-passkey',
  list: 'list-developer-passkeys',
  rename: 'rename-developer-passkey',
  remove: 'delete-developer-passkey',
} as const;

/** A developer account from its first day to its password's third; leaves the developer signed in, on the pro plan. */
export const walkDevelopers = async (context: WalkContext): Promise<void> => {
  const { dashboard, stack } = context;
  const signedUp = await dashboard.run('sign-up-developer');
  dashboard.credentials = { dashboardToken: signedUp.body.data.accessToken ?? '' };
  await setPlan(context, email, 'pro');
  await dashboard.run('verify-developer-email', { body: { otp: await mailedCode(context, email, /verif|confirm/i) } });
  await dashboard.run('resend-developer-verification');

  const { cookies } = await dashboard.run('sign-in-developer');
  const refreshed = await dashboard.run('refresh-developer', { headers: { dashboard_refresh: cookieOf(cookies) } });
  await dashboard.run('sign-out-developer', { headers: { dashboard_refresh: cookieOf(refreshed.cookies) } });
  await dashboard.run('request-developer-reset');
  const otp = await mailedCode(context, email, /reset/i);
  await dashboard.run('reset-developer-password', { body: { otp } });

  const signedIn = await dashboard.run('sign-in-developer', { body: { password: 'another horse battery' } });
  dashboard.credentials = { dashboardToken: signedIn.body.data.accessToken ?? '' };
  await dashboard.run('get-developer');
  await dashboard.run('sign-in-developer', { body: { password: 'another horse battery' } });
  const { body } = await dashboard.run<SessionList>('list-developer-sessions');
  const other = body.data.items.find(({ current }) => !current)?._id ?? '';
  await dashboard.run('revoke-developer-session', { params: { id: other } });
  await dashboard.run('change-developer-password', { body: { currentPassword: 'another horse battery' } });
  await dashboard.run('send-developer-code');
  const code = await mailedCode(context, email, /your code/i);
  const byCode = await dashboard.run('sign-in-developer-by-code', { body: { code } });
  dashboard.credentials = { dashboardToken: byCode.body.data.accessToken ?? '' };
  await factor(context, 'a third horse battery');
  await walkPasskeys(dashboard, passkeyRows, stack.dashboardUrl.replace('127.0.0.1', 'localhost'));
  await gitHub(context);
};

/** A second developer, who is invited, and goes. */
export const walkMembers = async (context: WalkContext): Promise<void> => {
  const { dashboard, stack } = context;
  const owner = dashboard.credentials;
  const invited = 'alan@example.com';
  const account = { email: invited, password: 'correct horse battery' };
  const registered = await prepare(context, 'POST', '/api/auth/register', account, '');
  const token = registered.body.data.accessToken ?? '';
  await dashboard.run('create-invitation');
  const mail = await mailAbout(invited, /invited/, stack.env.MAIL_PROVIDER_URL);
  dashboard.credentials = { dashboardToken: token };
  await dashboard.run('accept-invitation', { body: { token: linkIn(mail).searchParams.get('token') } });
  const me = await prepare(context, 'GET', '/api/auth/me');
  const developerId = me.body.data._id ?? '';
  dashboard.credentials = owner;
  await dashboard.run('list-members');
  await dashboard.run('update-member', { params: { developerId } });
  await dashboard.run('delete-member', { params: { developerId } });
  const open = await dashboard.run('create-invitation', { body: { email: 'ada@example.com' } });
  await dashboard.run('list-invitations');
  await dashboard.run('delete-invitation', { params: { id: open.body.data._id ?? '' } });
  dashboard.credentials = { dashboardToken: token };
  await dashboard.run('delete-developer');
  dashboard.credentials = owner;

  const made = await dashboard.run<Data>('create-token');
  await dashboard.run('list-tokens');
  await dashboard.run('revoke-token', { params: { id: made.body.data._id ?? '' } });
};
