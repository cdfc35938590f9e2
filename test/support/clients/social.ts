import type { Filter, UpdateFilter } from 'mongodb';
import { inject } from 'vitest';
import { enableAllProviders } from '../../../infra/local/identity-providers/fakes.ts';
import type { UserRecord } from '../../../shared/accounts/users/users.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { findProjectById } from '../../../shared/projects/find-project.ts';
import type { Project } from '../../../shared/projects/project.ts';
import type { SocialProviderName } from '../../../shared/projects/social/providers.ts';
import { type CollectionInput, type Developer, newProject, type TestProject } from '../fixtures/project.ts';
import { Browser, formWith, type Page, target } from './browser.ts';
import { type Answer, call } from './client.ts';

export const site = 'https://app.example.com';

/** The minimal schema of `users`, with the fields that a provider can fill. */
export const users: CollectionInput = {
  name: 'users',
  schema: [
    { key: 'email', type: 'String', required: true, unique: true },
    { key: 'password', type: 'String', required: true },
    { key: 'username', type: 'String', unique: true },
    { key: 'name', type: 'String' },
  ],
};

const registrations = enableAllProviders('test-client', 'test-secret-0123456789');

export interface SocialProjectOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly collection?: CollectionInput;
  readonly owner?: Developer;
}

/** Creates a project with accounts, a site and all providers; `settings` changes its settings first. */
export const newSocialProject = async (options: SocialProjectOptions = {}): Promise<TestProject> => {
  const project = await newProject([options.collection ?? users], options.owner);
  const answer = await project.developer.dashboard('PATCH', `/api/projects/${project.id}`, {
    authEnabled: true,
    siteUrl: site,
    socialProviders: registrations,
    ...options.settings,
  });
  if (answer.status !== 200) throw new Error(`settings answered ${JSON.stringify(answer.body)}`);
  return project;
};

export const startUrl = (project: TestProject, provider: string, base = inject('stack').baseUrl): string =>
  `${base}/api/userAuth/social/${provider}/start?x-api-key=${project.publishableKey}`;

/** Posts a provider's form like a browser. */
const postedBack = (browser: Browser, page: Page, asked: URLSearchParams): Promise<Page> => {
  const { action, form } = formWith(page, asked.get('state') ?? '');
  return browser.open(action, form);
};

/**
 * Follows `start` through the provider's page, where `who` (login at GitHub, email at Google) is chosen. Returns the
 * callback's address.
 */
export const consent = async (
  browser: Browser,
  start: string,
  who: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<URL> => {
  const page = await browser.open(target(await browser.open(start, undefined, headers)).href);
  const { action, form } = formWith(page, who);
  const back = await browser.open(action, form);
  return target(back.status === 200 ? await postedBack(browser, back, form) : back);
};

/** The parsed redirect of a social sign-in. */
export interface Landing {
  readonly url: URL;
  readonly error: string | null;
  readonly token: string;
  readonly rtCode: string;
  readonly userId: string;
  readonly isNewUser: string | null;
  readonly linkedByEmail: string | null;
}

export const landingOf = (url: URL): Landing => {
  const query = url.searchParams;
  return {
    url,
    error: query.get('error'),
    token: new URLSearchParams(url.hash.slice(1)).get('token') ?? '',
    rtCode: query.get('rtCode') ?? '',
    userId: query.get('userId') ?? '',
    isNewUser: query.get('isNewUser'),
    linkedByEmail: query.get('linkedByEmail'),
  };
};

/** The response to a page that starts with a call. */
export interface Begun {
  readonly data?: { readonly url: string };
  readonly code?: string;
}

/** Continues from the address in a response, with the browser's cookie. */
export const goOn = async ({ body, cookies }: Answer<Begun>, who: string): Promise<Landing> => {
  const browser = new Browser();
  const page = await browser.open(body.data?.url ?? '');
  const { action, form } = formWith(page, who);
  const callback = target(await browser.open(action, form));
  const cookie = cookies.map((text) => text.split(';')[0]).join('; ');
  return landingOf(target(await browser.open(callback.href, undefined, cookie === '' ? {} : { cookie })));
};

/** The complete sign-in: start, provider page, callback, redirect. */
export const signInWith = async (project: TestProject, provider: SocialProviderName, who: string): Promise<Landing> => {
  const browser = new Browser();
  const callback = await consent(browser, startUrl(project, provider), who);
  return landingOf(target(await browser.open(callback.href)));
};

interface Exchanged {
  readonly data?: { readonly refreshToken: string };
  readonly code?: string;
  readonly message: string;
}

export const exchange = (project: TestProject, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  call<Exchanged>(inject('stack').baseUrl, 'POST', '/api/userAuth/social/exchange', {
    key: project.publishableKey,
    body,
    headers,
  });

/** A refresh by header, with the token of an exchange. */
export const refresh = (project: TestProject, token: string, headers: Readonly<Record<string, string>> = {}) =>
  call<{ accessToken?: string; code?: string }>(inject('stack').baseUrl, 'POST', '/api/userAuth/refresh-token', {
    key: project.publishableKey,
    headers: { 'x-refresh-token': token, 'x-refresh-token-mode': 'header', ...headers },
  });

/** The project for domain functions. */
export const asProject = async ({ id }: TestProject): Promise<Project> => {
  const project = await findProjectById(id);
  if (!project) throw new Error('The project is gone');
  return project;
};

/** Changes a user directly in the database. */
export const editUser = async (
  project: TestProject,
  filter: Filter<UserRecord>,
  update: UpdateFilter<UserRecord>,
): Promise<void> => {
  const { matchedCount } = await onProject(await asProject(project), (db) =>
    db.collection<UserRecord>('users').updateOne(filter, update),
  );
  if (matchedCount !== 1) throw new Error('There is no such user');
};

/** The stored users of a project. */
export const storedUsers = async (project: TestProject) =>
  onProject(await asProject(project), (db) =>
    db.collection<UserRecord & { readonly username?: string }>('users').find().toArray(),
  );
