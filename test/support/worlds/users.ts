import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { type SessionScope, sessionKey } from '../../../shared/accounts/sessions.ts';
import { write } from '../../../shared/persistence/table.ts';
import { type Answer, call, type RequestOptions } from '../clients/client.ts';
import { type CollectionInput, type Developer, newProject, type TestProject } from './project.ts';

/** A `users` collection with fields of every kind that a profile can have. */
export const users: CollectionInput = {
  name: 'users',
  schema: [
    { key: 'email', type: 'String', required: true, unique: true },
    { key: 'password', type: 'String', required: true },
    { key: 'username', type: 'String', unique: true },
    { key: 'name', type: 'String' },
    { key: 'age', type: 'Number' },
    { key: 'role', type: 'String', default: 'reader' },
    { key: 'born', type: 'Date' },
    { key: 'address', type: 'Object', fields: [{ key: 'city', type: 'String', required: true }] },
    { key: 'tags', type: 'Array', items: { type: 'String' } },
  ],
};

export const site = 'https://app.example.com';

/** What sign-up, sign-in and refresh answer, as far as tests look at it. */
export interface SignIn {
  readonly success: boolean;
  readonly message: string;
  readonly code?: string;
  readonly accessToken: string;
  readonly token: string;
  readonly expiresIn: string;
  readonly refreshToken?: string;
  readonly userId: string;
  readonly user: Readonly<Record<string, unknown>>;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** An address and a password that nobody has yet. */
export const newCredentials = (): Credentials => ({
  email: `user-${randomBytes(8).toString('hex')}@example.com`,
  password: randomBytes(12).toString('hex'),
});

type Headers = Readonly<Record<string, string>>;

/** A project with user accounts, and its user routes called with the publishable key. */
export interface UsersProject extends TestProject {
  readonly auth: <Body = Record<string, unknown>>(
    method: string,
    path: string,
    options?: RequestOptions,
  ) => Promise<Answer<Body>>;
  readonly signUp: (body: unknown, headers?: Headers) => Promise<Answer<SignIn>>;
  readonly logIn: (body: unknown, headers?: Headers) => Promise<Answer<SignIn>>;
  /** Refreshes with a token in the header. */
  readonly refresh: (token: string | undefined) => Promise<Answer<SignIn>>;
  /** A new user with its tokens, the refresh token among them. */
  readonly newUser: (profile?: object) => Promise<SignIn & Credentials & { readonly refreshToken: string }>;
}

export interface UsersOptions {
  readonly collection?: CollectionInput;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly owner?: Developer;
}

const inHeader = { 'x-refresh-token-mode': 'header' };

/** Makes such a project; `settings` are set before anything is asked of it, since settings take up to 5 s. */
export const newUsersProject = async (options: UsersOptions = {}): Promise<UsersProject> => {
  const project = await newProject([options.collection ?? users], options.owner);
  const settings = { authEnabled: true, siteUrl: site, ...options.settings };
  const set = await project.developer.dashboard('PATCH', `/api/projects/${project.id}`, settings);
  if (set.status !== 200) throw new Error(`settings answered ${JSON.stringify(set.body)}`);
  const auth: UsersProject['auth'] = (method, path, { key = project.publishableKey, ...rest } = {}) =>
    call(inject('stack').baseUrl, method, `/api/userAuth/${path}`, { key, ...rest });
  const signUp: UsersProject['signUp'] = (body, headers = {}) => auth('POST', 'signup', { body, headers });
  return {
    ...project,
    auth,
    signUp,
    logIn: (body, headers = {}) => auth('POST', 'login', { body, headers }),
    refresh: (token) =>
      auth('POST', 'refresh-token', { headers: { ...inHeader, ...(token ? { 'x-refresh-token': token } : {}) } }),
    newUser: async (profile = {}) => {
      const credentials = newCredentials();
      const { status, body } = await signUp({ ...profile, ...credentials }, inHeader);
      if (status !== 201) throw new Error(`sign-up answered ${JSON.stringify(body)}`);
      return { ...body, ...credentials, refreshToken: body.refreshToken ?? '' };
    },
  };
};

/** The claims of an access token, unverified. */
export const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

/** Has the session of an access token begin some minutes ago. */
export const ageSession = async (scope: SessionScope, token: string, minutes: number): Promise<void> => {
  const { sub, sid } = claimsOf(token);
  await write({
    update: sessionKey(scope, String(sub), String(sid)),
    change: 'SET createdAt = :at',
    condition: 'attribute_exists(pk)',
    values: { at: Date.now() - minutes * 60_000 },
  });
};
