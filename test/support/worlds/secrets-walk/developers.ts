import { expect } from 'vitest';
import { shownCode } from '../../clients/authenticator.ts';
import { Browser, formWith, target } from '../../clients/browser.ts';
import type { RequestOptions } from '../../clients/client.ts';
import { mailAbout, tokenIn } from '../../clients/inbox.ts';
import { landingOf } from '../../clients/social.ts';
import { claimsOf } from '../users.ts';
import { addPasskey, noteHashed, passwords, routeNamed, secrets, send, signIn, stack } from './witness.ts';

export const colleagueEmail = 'secrets-colleague@example.com';

const linkTokenTo = async (address: string, subject: RegExp): Promise<string> => {
  const token = tokenIn(await mailAbout(address, subject, stack.env.MAIL_PROVIDER_URL));
  secrets.push({ what: 'token of a mail', value: token });
  noteHashed('token of a mail', token);
  return token;
};

/** A passkey of a developer's, from its first day to its end. */
const keepPasskey = async (token: string): Promise<void> => {
  const ids = [
    'start-developer-registration',
    'register-developer-passkey',
    'start-developer-passkey-sign-in',
    'list-developer-passkeys',
  ] as const;
  const origin = stack.dashboardUrl.replace('127.0.0.1', 'localhost');
  const signInWith = (body: object) => signIn('sign-in-developer-with-passkey', { body });
  const act = (id: string, options: RequestOptions) => send(routeNamed(id), {}, { ...options, token });
  const _id = await addPasskey(ids, origin, act, signInWith);
  await send(routeNamed('rename-developer-passkey'), { id: _id }, { token, body: { name: 'Phone' } });
  await send(routeNamed('delete-developer-passkey'), { id: _id }, { token });
};

/** An authenticator app of a developer's, a log-in with it, and its end. */
const guard = async (address: string, token: string, secondPassword: string): Promise<void> => {
  const act = (id: string, options: RequestOptions) => send(routeNamed(id), {}, options);
  const { secret } = (await act('start-developer-totp', { token })).body.data as { secret: string };
  secrets.push({ what: 'secret of a second factor', value: secret, shownBy: ['start-developer-totp'] });
  const confirmed = await act('confirm-developer-totp', { token, body: { code: shownCode(secret) } });
  const { recoveryCodes } = confirmed.body.data as { recoveryCodes: string[] };
  for (const value of recoveryCodes)
    secrets.push({ what: 'recovery code', value, shownBy: ['confirm-developer-totp'] });
  const body = { email: address, password: secondPassword };
  const { ticket } = (await act('sign-in-developer', { body })).body as { ticket: string };
  secrets.push({ what: 'ticket of a log-in', value: ticket, shownBy: ['sign-in-developer'] });
  const [first, second] = recoveryCodes;
  await signIn('sign-in-developer-with-factor', { body: { ticket, recoveryCode: first } });
  await act('remove-developer-totp', { token, body: { recoveryCode: second } });
};

/** A developer's sign-in with GitHub, and the end of the account that it opened. */
const comeByGitHub = async (): Promise<void> => {
  const started = await send(routeNamed('start-developer-sign-in'), {});
  const cookie = started.cookies[0]?.split(';')[0] ?? '';
  secrets.push({ what: 'verifier of a browser', value: cookie.split('=')[1] ?? '' });
  const browser = new Browser();
  const { action, form } = formWith(await browser.open(started.headers.get('location') ?? ''), 'octocat');
  const { searchParams, search } = target(await browser.open(action, form));
  secrets.push({ what: 'code of the provider', value: searchParams.get('code') ?? '' });
  const ended = await send(routeNamed('finish-developer-sign-in'), {}, { query: search, headers: { cookie } });
  const { token, rtCode, error } = landingOf(new URL(ended.headers.get('location') ?? ''));
  expect(error).toBeNull();
  secrets.push({ what: 'access token of the callback', value: token, shownBy: ['finish-developer-sign-in'] });
  secrets.push({ what: 'exchange code', value: rtCode, shownBy: ['finish-developer-sign-in'] });
  noteHashed('exchange code', rtCode);
  const session = await signIn('exchange-developer-code', { body: { token, rtCode } });
  await send(routeNamed('delete-developer'), {}, { token: session.token, body: {} });
};

/**
 * Everything that concerns a second developer: his account and its mails, his membership, his personal access token.
 */
export const workTogether = async (projectId: string, owner: string): Promise<void> => {
  const [first = '', second = '', third = ''] = passwords;
  const address = colleagueEmail;
  const act = (id: string, options: RequestOptions, more: Record<string, string> = {}) =>
    send(routeNamed(id), { projectId, ...more }, options);
  await signIn('sign-up-developer', { body: { email: address, password: first } });
  await act('verify-developer-email', { body: { token: await linkTokenTo(address, /confirm/i) } });
  await act('resend-developer-verification', { body: { email: address } });
  await act('request-developer-reset', { body: { email: address } });
  await act('reset-developer-password', { body: { token: await linkTokenTo(address, /reset/i), newPassword: second } });
  const elsewhere = await signIn('sign-in-developer', { body: { email: address, password: second } });
  const here = await signIn('sign-in-developer', { body: { email: address, password: second } });
  const sessions = await act('list-developer-sessions', { token: here.token });
  const { items } = sessions.body.data as { items: { _id: string; current: boolean }[] };
  const other = items.find(({ current }) => !current)?._id ?? '';
  await act('revoke-developer-session', { token: here.token }, { id: other });
  await act('change-developer-password', {
    token: here.token,
    body: { currentPassword: second, newPassword: third },
  });
  await act('refresh-developer', { headers: { cookie: elsewhere.cookie } });
  await act('send-developer-code', { body: { email: address } });
  await signIn('sign-in-developer-by-code', { body: { token: await linkTokenTo(address, /code/i) } });
  await guard(address, here.token, third);
  await keepPasskey(here.token);

  await act('create-invitation', { token: owner, body: { email: address, role: 'viewer' } });
  await act('accept-invitation', { token: here.token, body: { token: await linkTokenTo(address, /invited/) } });
  const developerId = String(claimsOf(here.token).sub);
  await act('update-member', { token: owner, body: { role: 'admin' } }, { developerId });
  const personal = await act('create-token', { token: here.token, body: { name: 'script', scopes: ['account:read'] } });
  const { _id, token: script } = personal.body.data as { _id: string; token: string };
  secrets.push({ what: 'personal access token', value: script, shownBy: ['create-token'] });
  noteHashed('personal access token', script);
  await act('get-developer', { token: script });
  await act('revoke-token', { token: here.token }, { id: _id });
  await act('delete-member', { token: here.token }, { developerId });
  const open = await act('create-invitation', { token: owner, body: { email: `2${address}`, role: 'admin' } });
  const { _id: invitation } = open.body.data as { _id: string };
  await linkTokenTo(`2${address}`, /invited/);
  await act('delete-invitation', { token: owner }, { id: invitation });
  await comeByGitHub();
};
