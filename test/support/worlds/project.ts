import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { insertDeveloper, setPlan } from '../../../shared/accounts/developers/developers.ts';
import { firstDevice } from '../../../shared/accounts/devices.ts';
import { accountWithPassword } from '../../../shared/accounts/sign-in.ts';
import { issueAccessToken } from '../../../shared/accounts/tokens.ts';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import type { PlanName } from '../../../shared/projects/project.ts';
import { type Answer, call, type RequestOptions } from '../clients/client.ts';

/** A developer, signed in to the dashboard API of the stack. */
export interface Developer {
  readonly email: string;
  readonly password: string;
  readonly token: string;
  readonly dashboard: <Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ) => Promise<Answer<Body>>;
}

/**
 * Asks up to three times where a part of the stack does not answer for now: what runs before tests is not tried again.
 */
const patiently = async <Body>(ask: () => Promise<Answer<Body>>, attempt = 1): Promise<Answer<Body>> => {
  const answer = await ask();
  return answer.status === 503 && attempt < 3 ? patiently(ask, attempt + 1) : answer;
};

/** What tests sign in with, so that no account is told of a new device. */
const client = { ip: '127.0.0.1', userAgent: 'node' };

/**
 * A fresh developer, signed in; `pro` and verified unless said otherwise, so that limits only matter where they are
 * tested. Their account is not opened by its route, whose mail would be most of what a test's world costs.
 */
export const newDeveloper = async (
  plan: PlanName = 'pro',
  { isVerified = true, email = `dev-${randomBytes(8).toString('hex')}@example.com` } = {},
): Promise<Developer> => {
  const password = randomBytes(12).toString('hex');
  const account = await accountWithPassword({ email, password });
  await insertDeveloper({ ...account, emailVerified: isVerified, _signIn: firstDevice(client) });
  if (plan !== 'free') await setPlan(email, plan);
  const base = inject('stack').dashboardUrl;
  const entered = await patiently(() =>
    call<{ data: { accessToken: string } }>(base, 'POST', '/api/auth/login', { body: { email, password } }),
  );
  if (entered.status !== 200) throw new Error(`login answered ${JSON.stringify(entered.body)}`);
  const token = entered.body.data.accessToken;
  return {
    email,
    password,
    token,
    dashboard: (method, path, body) => call(base, method, path, { token, ...(body === undefined ? {} : { body }) }),
  };
};

/** One who has not verified the address, as everybody is at first. */
export const newUnverified = (plan: PlanName = 'pro'): Promise<Developer> => newDeveloper(plan, { isVerified: false });

export interface CollectionInput {
  readonly name: string;
  readonly schema?: readonly Readonly<Record<string, unknown>>[] | null;
  readonly rls?: Readonly<Record<string, unknown>>;
  readonly searchLanguage?: string;
  readonly changes?: boolean;
}

/** A project of its own for a test file: tests share the stack and are kept apart by their projects. */
export interface TestProject {
  readonly id: string;
  readonly developer: Developer;
  readonly secretKey: string;
  readonly publishableKey: string;
  /** Calls the public API with the secret key, unless another is given. */
  readonly api: <Body = Record<string, unknown>>(
    method: string,
    path: string,
    options?: RequestOptions,
  ) => Promise<Answer<Body>>;
  /** An access token of one of the project's users, signed with its real key, of a sign-in by these methods. */
  readonly tokenFor: (userId: string, amr?: readonly string[]) => Promise<string>;
  readonly addCollection: (collection: CollectionInput) => Promise<void>;
}

/** Makes a project with these collections through the dashboard API. */
export const newProject = async (
  collections: readonly CollectionInput[] = [],
  owner?: Developer,
): Promise<TestProject> => {
  const developer = owner ?? (await newDeveloper());
  const made = await patiently(() =>
    developer.dashboard<{ data: { _id: string; publishableKey: string; secretKey: string } }>('POST', '/api/projects', {
      name: 'test project',
    }),
  );
  if (made.status !== 201) throw new Error(`create project answered ${JSON.stringify(made.body)}`);
  const { _id: id, publishableKey, secretKey } = made.body.data;
  const addCollection = async (collection: CollectionInput): Promise<void> => {
    const answer = await patiently(() =>
      developer.dashboard('POST', `/api/projects/${id}/collections`, { schema: null, ...collection }),
    );
    if (answer.status !== 201) throw new Error(`create collection answered ${JSON.stringify(answer.body)}`);
  };
  for (const collection of collections) await addCollection(collection);
  return {
    id,
    developer,
    secretKey,
    publishableKey,
    addCollection,
    api: (method, path, options = {}) => call(inject('stack').baseUrl, method, path, { key: secretKey, ...options }),
    tokenFor: async (userId, amr = []) => {
      const match = await findProjectByKey(secretKey, '');
      if (!match) throw new Error('The project is gone');
      return (await issueAccessToken(match.project, { userId, sessionId: '0'.repeat(24), amr })).accessToken;
    },
  };
};
