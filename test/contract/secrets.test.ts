import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { issueAccessToken, sealedTo } from '../../shared/accounts/access-tokens.ts';
import type { DeveloperRecord } from '../../shared/accounts/developers/developer-record.ts';
import { setPlan } from '../../shared/accounts/developers/operator-acts.ts';
import { markVerified } from '../../shared/accounts/email-tokens/email-proof.ts';
import { developerAccounts } from '../../shared/accounts/stores/developers.ts';
import type { UserRecord } from '../../shared/accounts/users/user-record.ts';
import { closeMongo, onControl, onProject } from '../../shared/clients/mongo.ts';
import { findProjectByKey } from '../../shared/collections/find-project-by-key.ts';
import { mailLogs } from '../../shared/mail/mail-log.ts';
import { suppress } from '../../shared/mail/suppressions.ts';
import type { ProjectRecord } from '../../shared/projects/project-record.ts';
import { open } from '../../shared/projects/sealed.ts';
import type { SocialRegistration } from '../../shared/projects/social/registration.ts';
import { shownCode } from '../support/clients/authenticator.ts';
import { Browser, formWith, target } from '../support/clients/browser.ts';
import { type Answer, call, type RequestOptions } from '../support/clients/client.ts';
import { eventually } from '../support/clients/eventually.ts';
import { codeIn, mailAbout, mailTo, tokenIn } from '../support/clients/inbox.ts';
import { LanguageModel } from '../support/clients/language-model.ts';
import {
  type CreationOptions,
  makePasskey,
  type RequestOptions as PasskeyRequestOptions,
  usePasskey,
} from '../support/clients/passkey-device.ts';
import { landingOf } from '../support/clients/social.ts';
import { type RunningStack, startTestStack } from '../support/clients/start-stack.ts';
import { eventOf, signedHeaders } from '../support/clients/webhook.ts';
import {
  dashboardCases,
  publicCases,
  type RouteCase,
  sampleBodies,
  sampleParameters,
  takesAnything,
} from '../support/samples/route-cases.ts';
import { put } from '../support/worlds/files.ts';
import { type OwnDatabase, startOwnDatabase } from '../support/worlds/own-database.ts';
import { claimsOf, site, users } from '../support/worlds/users.ts';

/*
 * A stack of its own that logs all it ever logs; every route is called well and badly, then every answer and every line
 * is searched for what must not leave the service.
 */

interface Told {
  readonly route: string;
  /** Status, headers, cookies apart, and body, as one text. */
  readonly text: string;
  readonly cookies: string;
}

interface Secret {
  readonly what: string;
  readonly value: string;
  /** Routes whose answer is the one place where it is shown. */
  readonly shownBy?: readonly string[];
}

const password = 'correct-horse-battery';
const wrongPassword = 'wrong-horse-battery';
const userPassword = '$2b$12$KIXQ4S4pPz1u8gk5wqv0yO5l3rj8s2mC1ZJ0o1b2c3d4e5f6g7h8i';
const inDocuments = 'what-a-document-holds';
const email = 'secrets@example.com';
const userEmail = 'secrets-user@example.com';
const codeEmail = 'secrets-coder@example.com';
const guardedEmail = 'secrets-guarded@example.com';
const colleagueEmail = 'secrets-colleague@example.com';
const clientSecret = 'client-secret-of-github-0123456789';
const providerApiKey = 're_key_of_the_provider_0123456789';
const modelKey = 'key-of-the-language-model';
const webhookSecret = `whsec_${Buffer.from('what-the-provider-signs-with').toString('base64')}`;
const passwords = ['first', 'second', 'third', 'fourth'].map((which) => `${which}-password-of-the-user`);

const lines: string[] = [];
const told: Told[] = [];
/** Requests whose answers say nothing new. */
let requestsUntold = 0;
const secrets: Secret[] = [];
let directory: string;
let ownDatabase: OwnDatabase;
let model: LanguageModel;
let stack: RunningStack;

const startLoggingStack = async (): Promise<void> => {
  [ownDatabase, model] = await Promise.all([startOwnDatabase(), LanguageModel.start()]);
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-secrets-'));
  const env = {
    LOG: 'debug',
    USAGE_SECONDS: '10',
    AI_BASE_URL: model.url,
    AI_MODEL: 'sample',
    AI_API_KEY: modelKey,
    PERMITTED_ADDRESSES: `${inject('stack').env.PERMITTED_ADDRESSES ?? ''},${ownDatabase.address}`,
  };
  stack = await startTestStack(directory, env, (line) => lines.push(line));
  // Domain functions that run here look into that stack's databases.
  Object.assign(process.env, stack.env, { LOG: 'silent' });
};

const send = async (
  { id, method, api, pathWith }: RouteCase,
  parameters: Record<string, string>,
  options: RequestOptions & { readonly query?: string } = {},
): Promise<Answer<Record<string, unknown>>> => {
  const base = api === 'public' ? stack.baseUrl : stack.dashboardUrl;
  const answer = await call(base, method, pathWith(parameters) + (options.query ?? ''), options);
  const headers = [...answer.headers].filter(([name]) => name !== 'set-cookie');
  told.push({
    route: id,
    text: JSON.stringify([answer.status, headers, answer.body]),
    cookies: answer.cookies.join('\n'),
  });
  return answer;
};

const routeNamed = (id: string): RouteCase => {
  const found = [...publicCases, ...dashboardCases].find((route) => route.id === id);
  if (!found) throw new Error(`There is no route ${id}`);
  return found;
};

interface SignIn {
  readonly data?: { readonly accessToken: string };
  readonly accessToken?: string;
  readonly refreshToken?: string;
  readonly userId?: string;
}

const noteHashed = (what: string, value: string): void => {
  for (const encoding of ['hex', 'base64url'] as const) {
    secrets.push({ what: `${what}, hashed`, value: createHash('sha256').update(value).digest(encoding) });
  }
};

/** Signs in by one of the routes and notes the tokens as secrets. */
const signIn = async (id: string, options: RequestOptions): Promise<{ token: string; cookie: string }> => {
  const answer = await send(routeNamed(id), {}, options);
  const { data, accessToken, refreshToken: inBody } = answer.body as SignIn;
  const token = data?.accessToken ?? accessToken ?? '';
  const cookie = answer.cookies[0]?.split(';')[0] ?? '';
  const [, refreshToken = ''] = cookie.split('=');
  secrets.push({ what: `access token of ${id}`, value: token, shownBy: [id] });
  // Only who asks for it has it in the body too.
  const asked = options.headers?.['x-refresh-token-mode'] === 'header';
  expect(inBody).toBe(asked ? refreshToken : undefined);
  secrets.push({ what: `refresh token of ${id}`, value: refreshToken, ...(asked ? { shownBy: [id] } : {}) });
  noteHashed(`refresh token of ${id}`, refreshToken);
  return { token, cookie };
};

const noteStoredSecrets = async (projectId: string): Promise<void> => {
  const developer = await onControl((db) => db.collection<DeveloperRecord>('developers').findOne({ email }));
  const project = await onControl((db) =>
    db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(projectId) }),
  );
  if (!developer || !project) throw new Error('The records are gone');
  secrets.push({ what: 'password hash', value: developer.passwordHash });
  for (const { hash } of project.keys) secrets.push({ what: 'key hash', value: hash });
  for (const { kid, encryptedPrivateKey } of project.signingKeys) {
    const { d } = JSON.parse(await open(encryptedPrivateKey, sealedTo(projectId, kid))) as { d: string };
    secrets.push({ what: 'signing private key', value: d });
    secrets.push({ what: 'sealed private key', value: encryptedPrivateKey });
  }
  if (project.placement.kind === 'external') {
    secrets.push({ what: 'sealed URI of a database', value: project.placement.encryptedUri });
  }
  if (project.storage?.kind === 'external') {
    secrets.push({ what: 'sealed key of a storage', value: project.storage.sealedKeys });
  }
  for (const value of [project.sealedProviderApiKey, project.sealedProviderWebhookSecret]) {
    if (value) secrets.push({ what: 'sealed secret of the mail provider', value });
  }
  for (const provider of Object.values(project.socialProviders ?? {})) {
    const { sealedClientSecret } = provider as SocialRegistration;
    if (sealedClientSecret) secrets.push({ what: 'sealed client secret', value: sealedClientSecret });
  }
  const logs = await mailLogs.find({});
  for (const { job } of logs) if (job?.content) secrets.push({ what: 'sealed content of a mail', value: job.content });
};

const noteUsers = async (secretKey: string): Promise<void> => {
  const match = await findProjectByKey(secretKey, '');
  if (!match) throw new Error('The project is gone');
  const stored = await onProject(match.project, (db) => db.collection<UserRecord>('users').find().toArray());
  for (const user of stored) secrets.push({ what: `password hash of ${user.email}`, value: user.password ?? '' });
};

/** The token and the code of the latest of `count` mails to the user, noted as secrets. */
const openMail = async (count: number): Promise<{ token: string; otp: string }> => {
  const mail = await mailTo(userEmail, count, stack.env.MAIL_PROVIDER_URL);
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
  await send(routeNamed('unlink-provider'), path, { key, token });
};

type Listed = readonly { readonly _id: string }[];

/** A passkey, and a sign-in with it; its id. */
const addPasskey = async (
  [start, register, startSignIn, list]: readonly [string, string, string, string],
  origin: string,
  act: (id: string, options: RequestOptions) => Promise<Answer<Record<string, unknown>>>,
  signInWith: (body: object) => Promise<unknown>,
): Promise<string> => {
  const { data: creation } = (await act(start, {})).body as { data: CreationOptions };
  const { credential, response } = makePasskey(creation, { origin });
  await act(register, { body: { response } });
  const { data: request } = (await act(startSignIn, {})).body as { data: PasskeyRequestOptions };
  await signInWith({ response: usePasskey(credential, request, { origin }) });
  secrets.push({ what: 'key of a passkey', value: credential.cose.toString('base64url') });
  const { data } = (await act(list, {})).body as { data: Listed | { readonly items: Listed } };
  const [{ _id } = { _id: '' }] = 'items' in data ? data.items : data;
  return _id;
};

/** An account by a code of a mail, and an anonymous one that gets an address and a second factor. */
const signInOtherwise = async (key: string): Promise<void> => {
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
  await act('remove-totp', { token, body: { recoveryCode: second } });
  const ids = ['start-registration', 'register-passkey', 'start-passkey-sign-in', 'list-passkeys'] as const;
  const signInWith = (body: object) => signIn('sign-in-with-passkey', { key, body });
  const _id = await addPasskey(ids, site, (id, options) => act(id, { ...options, token }), signInWith);
  await send(routeNamed('rename-passkey'), { id: _id }, { key, token, body: { name: 'Phone' } });
  await send(routeNamed('delete-passkey'), { id: _id }, { key, token });
};

/** A webhook with its log, its test and another secret; and a ticket for what changes. */
const tellOthers = async (parameters: Record<string, string>, token: string, key: string): Promise<void> => {
  const act = (id: string, more: Record<string, string> = {}, body?: object) =>
    send(routeNamed(id), { ...parameters, ...more }, { token, ...(body ? { body } : {}) });
  const body = { url: `${inject('externalS3').endpoint}/hooks`, events: ['user.created'] };
  const made = (await act('create-webhook', {}, body)).body.data as { _id: string; secret: string };
  const webhook = { webhookId: made._id };
  await act('get-webhook', webhook);
  await act('update-webhook', webhook, { events: ['user.created'] });
  await act('test-webhook', webhook);
  await act('list-webhook-deliveries', webhook);
  await act('replay-webhook', webhook, { since: new Date().toISOString() });
  const rotated = (await act('rotate-webhook-secret', webhook)).body.data as { secret: string };
  for (const [value, route] of [
    [made.secret, 'create-webhook'],
    [rotated.secret, 'rotate-webhook-secret'],
  ] as const) {
    secrets.push({ what: 'secret of a webhook', value, shownBy: [route] });
  }
  await act('delete-webhook', webhook);

  await act('create-collection', {}, { name: 'told', schema: null, changes: true });
  const answer = await send(routeNamed('create-ticket'), {}, { key, body: { collections: ['told'] } });
  const { ticket } = answer.body.data as { ticket: string };
  secrets.push({ what: 'ticket of live updates', value: ticket, shownBy: ['create-ticket'] });
};

/** Everything that an end user and the developer can do with his account, once and well; answers the user's id. */
const liveAnAccount = async (projectId: string, key: string, secretKey: string, developer: string): Promise<string> => {
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
  await act('sign-in', { body: { email: userEmail, password: third } });
  await manage('get-user-security');
  const sessions = await manage('list-user-sessions');
  const { items } = sessions.body.data as { items: { _id: string }[] };
  await manage('revoke-user-session', { sessionId: items[0]?._id ?? '' });
  await manage('update-user', {}, { password: fourth });
  await noteUsers(secretKey);
  await manage('revoke-user-sessions');
  return id;
};

/** A document into the trash and out of it, by the data API. */
const trashADocument = async (parameters: Record<string, string>, key: string): Promise<void> => {
  const made = await send(routeNamed('create-document'), parameters, { key, body: { text: inDocuments } });
  for (const id of ['delete-document', 'restore-document']) {
    await send(routeNamed(id), { ...parameters, id: String(made.body._id) }, { key });
  }
};

interface Upload {
  readonly signedUrl: string;
  readonly filePath: string;
}

/**
 * Files from their requests to their deletion, by the API and by the dashboard; the signature of a URL is shown to who
 * asks for it alone.
 */
const keepFiles = async (parameters: Record<string, string>, key: string, token: string): Promise<void> => {
  for (const whose of ['', 'project-']) {
    const [request, confirm] = [`request-${whose}upload`, `confirm-${whose}upload`];
    const asked = await send(routeNamed(request), parameters, { key, token, body: sampleBodies[request] });
    const { signedUrl, filePath } = (whose ? asked.body.data : asked.body) as Upload;
    const signature = new URL(signedUrl).searchParams.get('X-Amz-Signature') ?? '';
    secrets.push({ what: `signature of ${whose || 'an '}upload`, value: signature, shownBy: [request] });
    await put(signedUrl, 'sample');
    await send(routeNamed(confirm), parameters, { key, token, body: { filePath, size: 6 } });
    const visibility = { path: filePath, visibility: 'private' };
    await send(routeNamed(`change-${whose}visibility`), parameters, { key, token, body: visibility });
    await send(routeNamed('delete-file'), {}, { key, body: { path: filePath } });
  }
};

/** The signature of a link, which the route alone that makes it may show. */
const noteLink = (what: string, url: string, route: string): void => {
  const signature = new URL(url).searchParams.get('X-Amz-Signature') ?? '';
  secrets.push({ what, value: signature, shownBy: [route] });
};

/** An upload in parts, as soon as uploads go to the project's own storage. */
const keepParts = async (key: string, endpoint: string): Promise<void> => {
  const filePath = await eventually(async () => {
    const { body } = await send(routeNamed('request-upload'), {}, { key, body: sampleBodies['request-upload'] });
    const { signedUrl, filePath: path } = body as unknown as Upload;
    noteLink('signature of an upload elsewhere', signedUrl, 'request-upload');
    if (!signedUrl.startsWith(endpoint)) throw new Error('It still goes to ours');
    return path;
  });
  const { body } = await send(routeNamed('request-parts'), {}, { key, body: { filePath } });
  for (const { signedUrl } of (body.data as { parts: readonly Upload[] }).parts) {
    noteLink('signature of a part', signedUrl, 'request-parts');
  }
  await send(routeNamed('delete-file'), {}, { key, body: { path: filePath } });
};

/** A storage of the developer's own, which our stack may reach; what is kept of it, and of what it is reached with. */
const keepAStorage = async (parameters: Record<string, string>, token: string, key: string): Promise<void> => {
  const body = inject('externalS3');
  await send(routeNamed('connect-storage'), parameters, { token, body });
  secrets.push({ what: 'key of a storage', value: body.secretAccessKey });
  // What is signed for a storage names the key that it is signed with.
  secrets.push({ what: 'its id', value: body.accessKeyId, shownBy: ['request-upload', 'request-parts'] });
  await noteStoredSecrets(parameters.projectId ?? '');
  await keepParts(key, body.endpoint);
  await send(routeNamed('delete-files'), parameters, { token, body: sampleBodies['delete-files'] });
  await send(routeNamed('disconnect-storage'), parameters, { token });
};

/** A database of the developer's own, which our stack may reach; first with an account that it does not know. */
const keepADatabase = async (parameters: Record<string, string>, token: string, key: string): Promise<void> => {
  const [databasePassword, appName] = ['password-of-an-own-database', 'what-only-the-uri-holds'];
  const refused = `mongodb://ann:${databasePassword}@${ownDatabase.address}/own`;
  await send(routeNamed('connect-database'), parameters, { token, body: { uri: refused } });
  const uri = ownDatabase.uri('own', `appName=${appName}`);
  secrets.push({ what: 'password of a database', value: databasePassword }, { what: 'URI of a database', value: uri });
  secrets.push({ what: 'option of its URI', value: appName });
  expect((await send(routeNamed('connect-database'), parameters, { token, body: { uri } })).status).toBe(200);
  await noteStoredSecrets(parameters.projectId ?? '');
  await send(routeNamed('get-database'), parameters, { token });
  await send(routeNamed('list-documents'), parameters, { key });
  await send(routeNamed('disconnect-database'), parameters, { token });
};

/** All that is kept at the mail provider with the project's own key, by the mail API and by the dashboard. */
const keepAudiences = async (projectId: string, key: string, token: string): Promise<void> => {
  for (const whose of ['', 'project-']) {
    const act = async (verb: string, what: string, more: Record<string, string> = {}, given?: object) => {
      const id = `${verb}-${whose}${what}`;
      const body = given ?? sampleBodies[id];
      const { body: answered } = await send(
        routeNamed(id),
        { projectId, ...more },
        { key, token, ...(body === undefined ? {} : { body }) },
      );
      return (answered.data as { id: string }).id;
    };
    const audienceId = await act('create', 'audience');
    const contact = { audienceId, contactId: await act('create', 'contact', { audienceId }) };
    await act('list', 'audiences');
    await act('list', 'contacts', { audienceId });
    await act('update', 'contact', contact);
    const draft = { audienceId, subject: inDocuments, html: inDocuments };
    const id = await act('create', 'broadcast', {}, draft);
    await act('list', 'broadcasts');
    await act('get', 'broadcast', { id });
    await act('send', 'broadcast', { id });
    await act('delete', 'broadcast', { id: await act('create', 'broadcast', {}, draft) });
    await act('delete', 'contact', contact);
    await act('delete', 'audience', { audienceId });
  }
};

/** Events of the mail provider, from the account that all projects share and from the project's own. */
const takeEvents = async (projectId: string): Promise<void> => {
  const event = JSON.stringify(eventOf('email.opened', { subject: inDocuments }));
  for (const [route, secret] of [
    ['receive-webhook', stack.env.MAIL_WEBHOOK_SECRET ?? ''],
    ['receive-project-webhook', webhookSecret],
  ] as const) {
    const headers = signedHeaders(Buffer.from(event), { secret });
    await send(routeNamed(route), { projectId }, { headers, body: event });
  }
};

/**
 * A template and what is sent from it, with what is told of a mail, and an address that no mail goes to for a while.
 */
const keepMails = async (parameters: Record<string, string>, key: string, token: string): Promise<void> => {
  const act = (id: string, more: Record<string, string> = {}, body = sampleBodies[id]) =>
    send(routeNamed(id), { ...parameters, ...more }, { key, token, ...(body === undefined ? {} : { body }) });
  const made = await act('create-mail-template');
  const template = { templateId: String((made.body.data as { _id: string })._id) };
  await act('get-mail-template', template);
  await act('update-mail-template', template);
  await act('send-test-mail', template, { to: email, variables: { name: inDocuments } });
  await act('delete-mail-template', template);

  await act('send-mail', {}, { to: userEmail, subject: inDocuments, text: inDocuments });
  const providerId = await eventually(async () => {
    requestsUntold += 1;
    const { body } = await call<{ data: { providerEmailId: string | null }[] }>(
      stack.baseUrl,
      'GET',
      routeNamed('list-mail-logs').pathWith({}),
      { key },
    );
    const known = body.data.find(({ providerEmailId }) => providerEmailId)?.providerEmailId;
    if (!known) throw new Error('No mail has gone out yet');
    return known;
  });
  await act('get-mail-log', { providerId });
  await act('get-project-mail-log', { providerId });

  await suppress(parameters.projectId ?? '', ['sample@example.com'], { reason: 'bounced', providerEmailId: null });
  await act('delete-suppression', { email: 'sample@example.com' });
};

/** A schema that the language model proposes. */
const askTheAssistant = async (parameters: Record<string, string>, token: string): Promise<void> => {
  secrets.push({ what: 'key of the language model', value: modelKey });
  model.says(JSON.stringify({ name: 'orders', schema: [{ key: 'number', type: 'Number' }] }));
  await send(routeNamed('propose-schema'), parameters, { token, body: sampleBodies['propose-schema'] });
};

/**
 * All that the data browser, the trash, exports and imports do; the signatures of their links are shown to who asks for
 * them alone.
 */
const keepDocuments = async (parameters: Record<string, string>, token: string): Promise<void> => {
  const act = (id: string, body?: unknown, more: Record<string, string> = {}) =>
    send(routeNamed(id), { ...parameters, ...more }, { token, ...(body === undefined ? {} : { body }) });
  const idOf = ({ body }: Answer<Record<string, unknown>>) => ({ id: (body.data as { _id: string })._id });
  const document = idOf(await act('create-project-document', { text: inDocuments }));
  await act('update-project-document', { n: 1 }, document);
  await act('get-project-document', undefined, document);
  await act('delete-project-document', undefined, document);
  await act('restore-project-document', undefined, document);
  await act('delete-project-document', undefined, document);
  await act('delete-trashed-document', undefined, document);
  await act('empty-trash');

  const exported = idOf(await act('start-export', sampleBodies['start-export']));
  await eventually(async () => {
    const path = routeNamed('get-export').pathWith({ ...parameters, ...exported });
    const { body } = await call<{ data: { state: string } }>(stack.dashboardUrl, 'GET', path, { token });
    requestsUntold += 1;
    expect(body.data.state).toBe('done');
  });
  const { url } = (await act('get-export', undefined, exported)).body.data as { url: string };
  noteLink('signature of an export', url, 'get-export');

  const content = 'text\na';
  const upload = await act('start-import', { format: 'csv', upload: true, size: content.length });
  const { signedUrl } = upload.body.data as { signedUrl: string };
  noteLink('signature of an import', signedUrl, 'start-import');
  await put(signedUrl, content, 'text/csv');
  await act('start-uploaded-import', undefined, idOf(upload));
  await act('get-import', undefined, idOf(upload));

  const unwanted = await act('start-import', { format: 'csv', upload: true, size: content.length });
  noteLink('signature of another', (unwanted.body.data as { signedUrl: string }).signedUrl, 'start-import');
  await act('cancel-transfer', undefined, idOf(unwanted));
  await act('list-transfers');
  await act('delete-transfer', undefined, idOf(unwanted));
};

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
const workTogether = async (projectId: string, owner: string): Promise<void> => {
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

const addUser = async (secretKey: string): Promise<string> => {
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

const garbage: readonly unknown[] = ['{', '[]', 'null', { password, extra: password }, { name: { $ne: password } }];

beforeAll(async () => {
  await startLoggingStack();
  for (const [what, value] of [
    ['password', password],
    ['wrong password', wrongPassword],
    ['client secret', clientSecret],
    ['key of the mail provider', providerApiKey],
    ['secret of the webhook', webhookSecret],
    ...passwords.map((value) => ['password of a user', value]),
    ["a user's password hash", userPassword],
    ['encryption key', stack.env.ENCRYPTION_KEY],
    ['database URI', stack.env.MONGODB_URI],
    ['table endpoint', stack.env.AWS_ENDPOINT_URL_DYNAMODB],
  ]) {
    secrets.push({ what: what ?? '', value: value ?? '' });
  }
  await signIn('sign-up-developer', { body: { email, password } });
  await setPlan(email, 'pro');
  await markVerified(developerAccounts, { email });
  const first = await signIn('sign-in-developer', { body: { email, password } });
  await send(routeNamed('sign-in-developer'), {}, { body: { email, password: wrongPassword } });
  const { token, cookie } = await signIn('refresh-developer', { headers: { cookie: first.cookie } });

  const made = await send(routeNamed('create-project'), {}, { token, body: { name: 'secrets' } });
  const {
    _id: projectId,
    secretKey,
    publishableKey,
  } = made.body.data as Record<'_id' | 'secretKey' | 'publishableKey', string>;
  secrets.push({ what: 'secret key', value: secretKey, shownBy: ['create-project'] });
  await noteStoredSecrets(projectId);
  const parameters = { ...sampleParameters, projectId, indexName: 'sample', id: '' };
  for (const body of [{ name: 'notes', schema: null }, users]) {
    await send(routeNamed('create-collection'), parameters, { token, body });
  }
  const socialProviders = { github: { enabled: true, clientId: 'client-of-github', clientSecret } };
  const settings = {
    authEnabled: true,
    siteUrl: 'https://app.example.com',
    signIn: { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' },
    socialProviders,
    providerApiKey,
    providerWebhookSecret: webhookSecret,
  };
  await send(routeNamed('update-project'), parameters, { token, body: settings });
  const userToken = await addUser(secretKey);
  const endUserId = await liveAnAccount(projectId, publishableKey, secretKey, token);
  await signInOtherwise(publishableKey);
  await tellOthers(parameters, token, secretKey);
  // Before another database is connected: the data API may take 5 s to hear of the way back.
  await trashADocument(parameters, secretKey);
  await keepFiles(parameters, secretKey, token);
  await keepAStorage(parameters, token, secretKey);
  await keepADatabase(parameters, token, secretKey);
  await keepAudiences(projectId, secretKey, token);
  await takeEvents(projectId);
  await keepMails(parameters, secretKey, token);
  await askTheAssistant(parameters, token);
  await keepDocuments(parameters, token);
  await workTogether(projectId, token);
  const document = await send(routeNamed('create-document'), parameters, {
    key: secretKey,
    body: { text: inDocuments },
  });
  parameters.id = String(document.body._id);

  const rotated = await send(routeNamed('rotate-key'), parameters, { token, body: sampleBodies['rotate-key'] });
  const { key } = rotated.body.data as { key: string };
  secrets.push({ what: 'new secret key', value: key, shownBy: ['rotate-key'] });
  await noteStoredSecrets(projectId);

  /** `{id}` is a user's in the rows below `/users`, else a document's. */
  const parametersFor = ({ route: { path: at } }: RouteCase) =>
    at.includes('/users/') ? { ...parameters, id: endUserId } : parameters;
  const ends = ({ id, method }: RouteCase): boolean => method === 'DELETE' || id.startsWith('sign-out');
  // These have been called well already; what they show or store has been noted there.
  const done = new Set([
    'sign-up-developer',
    'create-project',
    'rotate-key',
    'refresh-developer',
    'sign-in-developer',
    'update-project',
    'exchange-developer-code',
    'sign-in-developer-by-code',
    'start-developer-totp',
    'confirm-developer-totp',
    'sign-in-developer-with-factor',
    'sign-in-developer-with-passkey',
    'sign-up',
    'sign-in',
    'refresh-token',
    'start-sign-in',
    'begin-sign-in',
    'finish-sign-in',
    'exchange-code',
    'sign-in-by-code',
    'sign-up-anonymously',
    'start-totp',
    'confirm-totp',
    'sign-in-with-factor',
    'sign-in-with-passkey',
    'create-webhook',
    'rotate-webhook-secret',
    'create-ticket',
  ]);
  const routes = [...publicCases, ...dashboardCases];
  for (const route of routes) {
    const body = route.method === 'GET' ? {} : { body: sampleBodies[route.id] ?? {} };
    for (const wrong of garbage) {
      await send(route, parametersFor(route), {
        ...(route.method === 'GET' ? {} : { body: wrong }),
        headers: { authorization: `Bearer ${token}x`, 'x-api-key': `${secretKey}x`, cookie: `${cookie}x` },
      });
      if (route.method === 'GET' || route.method === 'DELETE' || route.api === 'public' || takesAnything(route))
        continue;
      await send(route, parametersFor(route), { token, body: wrong });
    }
    if (ends(route) || done.has(route.id)) continue;
    const query = route.id === 'list-documents' ? `?text=${inDocuments}` : '';
    for (const credentials of [{ token, key: secretKey }, { token: userToken, key: publishableKey }, {}]) {
      await send(route, parametersFor(route), { ...credentials, ...body, query });
    }
  }
  await noteStoredSecrets(projectId);
  await noteUsers(secretKey);
  await send(routeNamed('update-collection'), parameters, { token, body: { rls: { enabled: false }, changes: true } });
  await send(routeNamed('list-changes'), parameters, { key: secretKey, query: '?since=0' });
  await send(routeNamed('list-project-changes'), parameters, { token, query: '?since=0' });
  for (const id of ['delete-index', 'delete-collection', 'delete-user', 'delete-project', 'sign-out-developer']) {
    await send(routeNamed(id), parametersFor(routeNamed(id)), { token, key: secretKey, headers: { cookie } });
  }
}, 600_000);

afterAll(async () => {
  await closeMongo();
  await stack.stop();
  await Promise.all([ownDatabase.stop(), model.close()]);
  await rm(directory, { recursive: true, force: true });
});

test('every route was called, and answered well at least once', () => {
  const good = new Set(told.filter(({ text }) => /^\[(2|30[23])/.test(text)).map(({ route }) => route));
  const missing = [...publicCases, ...dashboardCases].map(({ id }) => id).filter((id) => !good.has(id));
  expect(missing).toEqual([]);
});

/** What the APIs say of themselves: examples that look like secrets, and the names of the parts they stand on. */
const descriptions: ReadonlySet<string> = new Set(['get-openapi', 'get-dashboard-openapi']);
const healths: ReadonlySet<string> = new Set(['get-health', 'get-dashboard-health']);

describe('no answer holds', () => {
  test('any secret, but the one that shows it', () => {
    expect(secrets.length).toBeGreaterThan(15);
    for (const { what, value, shownBy = [] } of secrets) {
      expect(value.length, what).toBeGreaterThanOrEqual(9);
      const holders = told.filter(({ text }) => text.includes(value)).map(({ route }) => route);
      expect(holders, what).toEqual(shownBy);
    }
  });

  test('anything that looks like one', () => {
    for (const { route, text } of told.filter((answer) => !descriptions.has(answer.route))) {
      expect(text, route).not.toMatch(
        /\$2[aby]\$\d\d\$|-----BEGIN|"d":"|passwordHash|encryptedPrivateKey|sealedClientSecret|clientSecret":"|credentialVersion|mongodb(\+srv)?:\/\//,
      );
      if (route !== 'create-project' && route !== 'rotate-key') expect(text, route).not.toMatch(/sk_live_[0-9A-Za-z]/);
    }
  });

  test('where the code runs, or what it is made of', () => {
    for (const { route, text } of told) {
      expect(text, route).not.toMatch(/node_modules|\.ts:\d|at async|MongoServerError|\/shared\//i);
      if (!descriptions.has(route) && !healths.has(route)) expect(text, route).not.toMatch(/dynamodb/i);
    }
  });

  test('a refresh token, except in its own cookie', () => {
    for (const { what, value } of secrets.filter((secret) => secret.what.startsWith('refresh token of'))) {
      const holders = told.filter(({ cookies }) => cookies.includes(value)).map(({ route }) => route);
      expect(holders, what).toEqual(what.endsWith('hashed') ? [] : [what.split(' ').at(-1)]);
    }
  });
});

describe('no line of the log holds', () => {
  test('any secret, or any body', () => {
    const log = lines.join('\n');
    expect(lines.length).toBeGreaterThan(told.length);
    for (const { what, value } of secrets) expect(log.includes(value), what).toBe(false);
    for (const value of [
      inDocuments,
      'sample-password',
      'sample@example.com',
      userEmail,
      colleagueEmail,
      'user@example.com',
      email,
      'pk_live_',
      'sk_live_',
      'Bearer',
    ]) {
      expect(log.includes(value), value).toBe(false);
    }
  });

  test('anything but one object of JSON; one a request says what the contract wants', () => {
    // The mail provider calls as often as it has something to tell.
    const byTheProvider = 'receive-webhook';
    const requests = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ route }) => route);
    expect(requests.filter(({ route }) => route !== byTheProvider)).toHaveLength(
      told.filter(({ route }) => route !== byTheProvider).length + requestsUntold,
    );
    for (const request of requests) {
      const { level, route, project, status, code, ms, databaseMs, requestId, ...more } = request;
      expect({ level, route, status, ms, databaseMs, requestId }).toEqual({
        level: 'info',
        route: expect.any(String) as string,
        status: expect.any(Number) as number,
        ms: expect.any(Number) as number,
        databaseMs: expect.any(Number) as number,
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      });
      if (project !== undefined) expect(project).toMatch(/^[0-9a-f]{24}$/);
      if (code !== undefined) expect([code, Number(status) >= 400]).toEqual([expect.stringMatching(/^[A-Z_]+$/), true]);
      expect(more).toEqual({});
    }
  });

  test('a failure of ours', () => {
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});

describe('an address of the database with credentials', () => {
  test.each([
    ['a port that is none', 'mongodb://admin:PASSWORD@127.0.0.1:port/'],
    ['an option that is none', 'mongodb://admin:PASSWORD@127.0.0.1:1/?nonsense=PASSWORD'],
    ['a bad escape', 'mongodb://admin:PASSWORD%@127.0.0.1:1/'],
    ['another scheme', 'postgres://admin:PASSWORD@127.0.0.1:1/'],
    ['no scheme', 'admin:PASSWORD@127.0.0.1'],
    ['a mechanism that is none', 'mongodb://admin:PASSWORD@127.0.0.1:1/?authMechanism=NONE'],
    ['an SRV record with a port', 'mongodb+srv://admin:PASSWORD@db.example.com:27017/'],
  ])('is not in the log or the answer, with %s', async (_what, uri) => {
    const hidden = 'xQ7secretPassword9';
    const before = process.env.MONGODB_URI ?? '';
    const written: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    process.env.MONGODB_URI = uri.replaceAll('PASSWORD', hidden);
    process.env.LOG = 'debug';
    vi.resetModules();
    try {
      const { handler } = await import('../../functions/data/list-documents.ts');
      const { invoke } = await import('../support/clients/invoke.ts');
      const answer = await invoke(handler, {
        key: `sk_live_${'a'.repeat(32)}`,
        params: { collectionName: 'notes' },
      });
      expect(answer.status).toBeGreaterThanOrEqual(500);
      expect(JSON.stringify(answer.body)).not.toContain(hidden);
    } finally {
      write.mockRestore();
      process.env.MONGODB_URI = before;
      process.env.LOG = 'silent';
    }
    expect(written.join('')).toContain('"level":"error"');
    expect(written.join('')).not.toContain(hidden);
  });
});
