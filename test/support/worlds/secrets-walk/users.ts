import { ObjectId } from 'mongodb';
import { expect } from 'vitest';
import { issueAccessToken } from '../../../../shared/accounts/tokens.ts';
import type { UserRecord } from '../../../../shared/accounts/users/users.ts';
import { findProjectByKey } from '../../../../shared/collections/find-project-by-key.ts';
import { onProject } from '../../../../shared/persistence/mongo.ts';
import { shownCode } from '../../clients/authenticator.ts';
import { Browser, formWith, target } from '../../clients/browser.ts';
import type { RequestOptions } from '../../clients/client.ts';
import { codeIn, mailTo, tokenIn } from '../../clients/inbox.ts';
import { landingOf } from '../../clients/social.ts';
import { sampleParameters } from '../../samples/route-cases.ts';
import { site } from '../users.ts';
import {
  addPasskey,
  noteHashed,
  noteStoredSecrets,
  passwords,
  routeNamed,
  secrets,
  send,
  signIn,
  stack,
} from './witness.ts';

export const password = 'correct-horse-battery';
export const wrongPassword = 'wrong-horse-battery';
export const userPassword = '$2b$12$KIXQ4S4pPz1u8gk5wqv0yO5l3rj8s2mC1ZJ0o1b2c3d4e5f6g7h8i';
export const userEmail = 'secrets-user@example.com';
const movedEmail = 'secrets-moved@example.com';
const codeEmail = 'secrets-coder@example.com';
const guardedEmail = 'secrets-guarded@example.com';

export const noteUsers = async (secretKey: string): Promise<void> => {
  const match = await findProjectByKey(secretKey, '');
  if (!match) throw new Error('The project is gone');
  const stored = await onProject(match.project, (db) => db.collection<UserRecord>('users').find().toArray());
  for (const user of stored) secrets.push({ what: `password hash of ${user.email}`, value: user.password ?? '' });
};

/** The token and the code of the latest of `count` mails to the user, noted as secrets. */
const openMail = async (count: number, email = userEmail): Promise<{ token: string; otp: string }> => {
  const mail = await mailTo(email, count, stack.env.MAIL_PROVIDER_URL);
  const [token, otp] = [tokenIn(mail), codeIn(mail)];
  secrets.push({ what: 'token of a mail', value: token }, { what: 'code of a mail', value: otp });
  noteHashed('token of a mail', token);
  return { token, otp };
};

/** The whole social sign-in of a browser; its tokens are shown where the contract says, and nowhere else. */
const signInWithGitHub = async (key: string): Promise<void> => {
  const path = { provider: 'github' };
  const begun = await send(routeNamed('begin-sign-in'), path, { key });
  const begunCookie = begun.cookies[0]?.split(';')[0] ?? '';
  secrets.push({ what: 'verifier of a browser that calls', value: begunCookie.split('=')[1] ?? '' });
  const started = await send(routeNamed('start-sign-in'), path, { query: `?x-api-key=${key}` });
  const cookie = started.cookies[0]?.split(';')[0] ?? '';
  secrets.push({ what: 'verifier of a browser', value: cookie.split('=')[1] ?? '' });
  const browser = new Browser();
  const { action, form } = formWith(await browser.open(started.headers.get('location') ?? ''), 'octocat');
  const { searchParams, search } = target(await browser.open(action, form));
  secrets.push({ what: 'code of the provider', value: searchParams.get('code') ?? '' });
  const ended = await send(routeNamed('finish-sign-in'), path, { query: search, headers: { cookie } });
  const { token, rtCode, error } = landingOf(new URL(ended.headers.get('location') ?? ''));
  expect(error).toBeNull();
  secrets.push({ what: 'access token of the callback', value: token, shownBy: ['finish-sign-in'] });
  secrets.push({ what: 'exchange code', value: rtCode, shownBy: ['finish-sign-in'] });
  noteHashed('exchange code', rtCode);
  const exchanged = await send(routeNamed('exchange-code'), {}, { key, body: { token, rtCode } });
  const { refreshToken } = exchanged.body.data as { refreshToken: string };
  secrets.push({ what: 'exchanged refresh token', value: refreshToken, shownBy: ['exchange-code'] });
  noteHashed('exchanged refresh token', refreshToken);
  const linking = await send(routeNamed('link-provider'), path, { key, token });
  const [linkingCookie = ''] = (linking.cookies[0] ?? '').split(';');
  secrets.push({ what: 'verifier of a browser that links', value: linkingCookie.split('=')[1] ?? '' });
  await send(routeNamed('unlink-provider'), path, { key, token });
};

/** An account by a code of a mail, and an anonymous one that gets an address and a second factor. */
export const signInOtherwise = async (key: string): Promise<void> => {
  const act = (id: string, options: RequestOptions) => send(routeNamed(id), {}, { key, ...options });
  await act('send-code', { body: { email: codeEmail } });
  const mail = await mailTo(codeEmail, 1, stack.env.MAIL_PROVIDER_URL);
  const code = codeIn(mail);
  secrets.push({ what: 'token of a sign-in mail', value: tokenIn(mail) }, { what: 'code of it', value: code });
  await signIn('sign-in-by-code', { key, body: { email: codeEmail, code } });

  const { token } = await signIn('sign-up-anonymously', { key });
  const guarded = { email: guardedEmail, password };
  await act('upgrade-anonymous', { token, body: guarded });
  const { secret } = (await act('start-totp', { token })).body.data as { secret: string };
  secrets.push({ what: 'secret of a second factor', value: secret, shownBy: ['start-totp'] });
  const confirmed = await act('confirm-totp', { token, body: { code: shownCode(secret) } });
  const { recoveryCodes } = confirmed.body.data as { recoveryCodes: string[] };
  for (const value of recoveryCodes) secrets.push({ what: 'recovery code', value, shownBy: ['confirm-totp'] });
  const { ticket } = (await act('sign-in', { body: guarded })).body as { ticket: string };
  secrets.push({ what: 'ticket of a sign-in', value: ticket, shownBy: ['sign-in'] });
  const [first, second] = recoveryCodes;
  await signIn('sign-in-with-factor', { key, body: { ticket, recoveryCode: first } });
  const renewed = await act('create-recovery-codes', { token, body: { recoveryCode: second } });
  const { recoveryCodes: others } = renewed.body.data as { recoveryCodes: string[] };
  for (const value of others) secrets.push({ what: 'recovery code', value, shownBy: ['create-recovery-codes'] });
  await act('remove-totp', { token, body: { recoveryCode: others[0] } });
  const ids = ['start-registration', 'register-passkey', 'start-passkey-sign-in', 'list-passkeys'] as const;
  const signInWith = (body: object) => signIn('sign-in-with-passkey', { key, body });
  const _id = await addPasskey(ids, site, (id, options) => act(id, { ...options, token }), signInWith);
  await send(routeNamed('rename-passkey'), { id: _id }, { key, token, body: { name: 'Phone' } });
  await send(routeNamed('delete-passkey'), { id: _id }, { key, token });
  await act('delete-account', { token, body: { password } });
};

/** Everything that an end user and the developer can do with his account, once and well; answers the user's id. */
export const liveAnAccount = async (
  projectId: string,
  key: string,
  secretKey: string,
  developer: string,
): Promise<string> => {
  const [first = '', second = '', third = '', fourth = ''] = passwords;
  const inHeader = { 'x-refresh-token-mode': 'header' };
  const act = (id: string, options: RequestOptions, more: Record<string, string> = {}) =>
    send(routeNamed(id), more, { key, ...options });

  const body = { email: userEmail, password: first, username: sampleParameters.username };
  await signIn('sign-up', { key, body });
  await noteUsers(secretKey);
  await act('verify-email', { body: { token: (await openMail(1)).token } });
  await act('resend-verification-otp', { body: { email: userEmail } });
  await act('request-password-reset', { body: { email: userEmail } });
  await act('request-password-reset', { body: { email: 'nobody@example.com' } });
  await noteStoredSecrets(projectId);
  const { otp } = await openMail(2);
  await act('reset-password', { body: { email: userEmail, otp, newPassword: second } });
  await noteUsers(secretKey);
  await act('sign-in', { body: { email: userEmail, password: wrongPassword } });
  const { token, cookie } = await signIn('sign-in', {
    key,
    headers: inHeader,
    body: { email: userEmail, password: second },
  });
  const [, refreshToken = ''] = cookie.split('=');
  const refreshed = await signIn('refresh-token', { key, headers: { ...inHeader, 'x-refresh-token': refreshToken } });
  await act('request-email-change', { token, body: { email: movedEmail, password: second } });
  const moving = await openMail(1, movedEmail);
  await act('change-email', { token, body: { token: moving.token } });
  await act('change-password', { token, body: { currentPassword: second, newPassword: third } });
  await noteUsers(secretKey);
  await signInWithGitHub(key);

  const me = await act('get-me', { token });
  const { _id: id } = me.body.data as { _id: string };
  await act('list-own-files', { token });
  const listed = await act('list-sessions', { token });
  const [session] = listed.body.data as { _id: string }[];
  await act('revoke-session', { token }, { id: session?._id ?? '' });
  await act('sign-out', { headers: { cookie: refreshed.cookie } });

  const manage = (route: string, more: Record<string, string> = {}, change?: object) =>
    send(routeNamed(route), { projectId, id, ...more }, { token: developer, ...(change ? { body: change } : {}) });
  await act('sign-in', { body: { email: movedEmail, password: third } });
  await manage('get-user-security');
  const sessions = await manage('list-user-sessions');
  const { items } = sessions.body.data as { items: { _id: string }[] };
  await manage('revoke-user-session', { sessionId: items[0]?._id ?? '' });
  await manage('update-user', {}, { password: fourth });
  await noteUsers(secretKey);
  await manage('revoke-user-sessions');
  return id;
};

export const addUser = async (secretKey: string): Promise<string> => {
  const match = await findProjectByKey(secretKey, '');
  if (!match) throw new Error('The project is gone');
  const _id = new ObjectId();
  await onProject(match.project, (db) =>
    db.collection('users').insertOne({ _id, email: 'user@example.com', password: userPassword, name: 'u' }),
  );
  const { accessToken } = await issueAccessToken(match.project, {
    userId: _id.toHexString(),
    sessionId: '0'.repeat(24),
  });
  secrets.push({ what: 'access token of a user', value: accessToken });
  return accessToken;
};
