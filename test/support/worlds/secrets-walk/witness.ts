import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ObjectId } from 'mongodb';
import { expect, inject } from 'vitest';
import type { DeveloperRecord } from '../../../../shared/accounts/developers/developers.ts';
import { sealedTo } from '../../../../shared/accounts/tokens.ts';
import { mailLogs } from '../../../../shared/mail/log.ts';
import { closeMongo, onControl } from '../../../../shared/persistence/mongo.ts';
import type { ProjectRecord } from '../../../../shared/projects/project.ts';
import { open } from '../../../../shared/projects/sealed.ts';
import type { SocialRegistration } from '../../../../shared/projects/social/provider-rules.ts';
import { type Answer, call, type RequestOptions } from '../../clients/client.ts';
import { LanguageModel } from '../../clients/language-model.ts';
import {
  type CreationOptions,
  makePasskey,
  type RequestOptions as PasskeyRequestOptions,
  usePasskey,
} from '../../clients/passkey-device.ts';
import { type RunningStack, startTestStack } from '../../clients/start-stack.ts';
import { dashboardCases, publicCases, type RouteCase } from '../../samples/route-cases.ts';
import { type OwnDatabase, startOwnDatabase } from '../own-database.ts';

/*
 * A stack of its own that logs all it ever logs; what it answers and logs is kept, and what must not leave it is noted.
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

export const inDocuments = 'what-a-document-holds';
export const email = 'secrets@example.com';
export const modelKey = 'key-of-the-language-model';
export const passwords = ['first', 'second', 'third', 'fourth'].map((which) => `${which}-password-of-the-user`);
export const lines: string[] = [];
export const told: Told[] = [];

export const secrets: Secret[] = [];
/** Requests whose answers say nothing new. */
export let requestsUntold = 0;
let directory: string;
export let ownDatabase: OwnDatabase;
export let model: LanguageModel;
export let stack: RunningStack;

export const noteUntold = (): void => {
  requestsUntold += 1;
};

export const startLoggingStack = async (): Promise<void> => {
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

export const stopLoggingStack = async (): Promise<void> => {
  await closeMongo();
  await stack.stop();
  await Promise.all([ownDatabase.stop(), model.close()]);
  await rm(directory, { recursive: true, force: true });
};

/** Sends a request and keeps what is told. */
export const send = async (
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

export const routeNamed = (id: string): RouteCase => {
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

export const noteHashed = (what: string, value: string): void => {
  for (const encoding of ['hex', 'base64url'] as const) {
    secrets.push({ what: `${what}, hashed`, value: createHash('sha256').update(value).digest(encoding) });
  }
};

/** Signs in by one of the routes and notes the tokens as secrets. */
export const signIn = async (id: string, options: RequestOptions): Promise<{ token: string; cookie: string }> => {
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

export const noteStoredSecrets = async (projectId: string): Promise<void> => {
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

type Listed = readonly { readonly _id: string }[];

/** A passkey, and a sign-in with it; its id. */
export const addPasskey = async (
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

/** The signature of a link, which the route alone that makes it may show. */
export const noteLink = (what: string, url: string, route: string): void => {
  const signature = new URL(url).searchParams.get('X-Amz-Signature') ?? '';
  secrets.push({ what, value: signature, shownBy: [route] });
};
