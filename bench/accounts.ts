import { randomUUID } from 'node:crypto';
import { hash } from '@node-rs/bcrypt';
import { type Db, ObjectId } from 'mongodb';
import { startSession } from '../shared/accounts/refresh-sessions.ts';
import { issueAccessToken } from '../shared/accounts/tokens.ts';
import { findProjectByKey } from '../shared/collections/find-project-by-key.ts';
import { projectScope } from '../shared/persistence/item-keys.ts';
import type { Project } from '../shared/projects/project.ts';
import type { LoadRequest } from './load.ts';
import { inTurn, type Name, type Operation } from './operation.ts';
import { addPeople, type PeerPerson, parseAccounts } from './parse/accounts.ts';
import { passwordCost } from './password-cost.ts';
import { addPocketBasePeople, type PocketBasePeople, pocketBaseAccounts } from './pocketbase/accounts.ts';
import type { PocketBase } from './pocketbase/start.ts';

/** Enough that no address is used more than five times at the same time, which would lock it. */
const people = 200;
/** More than there are connections, so that each request gets a token that is not in use. */
const sessions = 200;
const password = 'a password for the benchmark';
/** More would only wait for the CPU, which handles about this many per second. */
const hashing = { connections: 4, perSecond: 8 } as const;

/** A fixed number of requests, because a slow machine could spend all its time on the first ones. */
const hashed = (seconds: number) => ({
  connections: hashing.connections,
  amount: Math.max(hashing.connections, Math.ceil(hashing.perSecond * seconds)),
});

interface Account {
  readonly id: string;
  readonly email: string;
}

const addAccounts = async (database: Db, stored: string): Promise<Account[]> => {
  const now = new Date();
  const users = Array.from({ length: people }, (_, index) => ({
    _id: new ObjectId(),
    email: `person-${index}@example.com`,
    password: stored,
    emailVerified: true,
    hasPassword: true,
    credentialVersion: 0,
    isDeleted: false,
    deletedAt: null,
    createdAt: now,
    updatedAt: now,
  }));
  await database.collection('users').insertMany(users);
  return users.map(({ _id, email }) => ({ id: _id.toHexString(), email }));
};

const client = { ip: '127.0.0.1', userAgent: 'bench' };

interface Bench {
  readonly project: Project;
  readonly publishableKey: string;
  readonly database: Db;
  readonly accounts: readonly Account[];
}

const refreshTokens = async (name: Name, { project, database, accounts }: Bench): Promise<string[]> => {
  if (name === 'bare') {
    const bare = database.collection('bare-sessions');
    await bare.createIndex({ token: 1 }, { unique: true });
    const made = Array.from({ length: sessions }, () => ({ token: randomUUID() }));
    await bare.insertMany(made);
    return made.map(({ token }) => token);
  }
  const next = inTurn(accounts);
  const opened: string[] = [];
  for (let index = 0; index < sessions; index++) {
    opened.push((await startSession(projectScope(project.id), next().id, client)).refreshToken);
  }
  return opened;
};

const keyFor = (name: Name, { publishableKey }: Bench): Readonly<Record<string, string>> =>
  name === 'bare' ? {} : { 'x-api-key': publishableKey };

interface AccountOperation extends Omit<Operation, 'prepare' | 'peers'> {
  readonly request: (name: Name, bench: Bench, seconds: number) => LoadRequest | Promise<LoadRequest>;
  readonly parse?: (people: readonly PeerPerson[], seconds: number) => LoadRequest;
  readonly pocketbase?: (people: PocketBasePeople, seconds: number) => LoadRequest;
}

const area = 'user accounts';

const emailOf: Operation['gist'] = (body) => (body.record ?? body.user ?? body.data ?? body).email;

const signUp: AccountOperation = {
  name: 'sign up',
  area,
  aim: { speed: 0.9, counted: 0.9 },
  longer: 2,
  request: (name, bench, seconds) => ({
    method: 'POST',
    ...hashed(seconds),
    path: () => '/api/userAuth/signup',
    headers: () => keyFor(name, bench),
    body: () => JSON.stringify({ email: `${randomUUID()}@example.com`, password }),
  }),
  parse: (_people, seconds) => ({ ...parseAccounts.signUp(password), ...hashed(seconds) }),
};

const logIn: AccountOperation = {
  name: 'log in',
  area,
  aim: { speed: 0.95, counted: 0.95 },
  longer: 2,
  request: (name, bench, seconds) => {
    const next = inTurn(bench.accounts);
    return {
      method: 'POST',
      ...hashed(seconds),
      path: () => '/api/userAuth/login',
      headers: () => keyFor(name, bench),
      body: () => JSON.stringify({ email: next().email, password }),
    };
  },
  parse: (people, seconds) => ({ ...parseAccounts.logIn(people, password), ...hashed(seconds) }),
  pocketbase: (people, seconds) => ({ ...pocketBaseAccounts.logIn(people, password), ...hashed(seconds) }),
  gist: emailOf,
};

const refresh: AccountOperation = {
  name: 'refresh',
  area,
  aim: { cpu: 2, speed: 0.25, counted: 0.25 },
  request: async (name, bench) => {
    const tokens = await refreshTokens(name, bench);
    return {
      method: 'POST',
      path: () => '/api/userAuth/refresh-token',
      headers: () => ({ ...keyFor(name, bench), 'x-refresh-token': tokens.shift() ?? '' }),
      onAnswer: (body) => tokens.push((JSON.parse(body) as { refreshToken: string }).refreshToken),
    };
  },
  pocketbase: pocketBaseAccounts.refresh,
};

const me: AccountOperation = {
  name: 'me',
  area,
  aim: { speed: 0.6, counted: 0.25, parse: 1.3 },
  request: async (name, bench) => {
    const tokens: string[] = [];
    for (const { id } of bench.accounts) {
      const session = { userId: id, sessionId: '0'.repeat(24) };
      tokens.push(name === 'bare' ? id : (await issueAccessToken(bench.project, session)).accessToken);
    }
    const next = inTurn(tokens);
    return {
      method: 'GET',
      path: () => '/api/userAuth/me',
      headers: () => ({ ...keyFor(name, bench), authorization: `Bearer ${next()}` }),
    };
  },
  parse: parseAccounts.me,
  gist: emailOf,
};

interface Databases {
  readonly database: Db;
  readonly parse: Db;
  readonly pocketBase: PocketBase | undefined;
}

/** Account operations. The bare server sends the one database command, and hashes with bcrypt at the same cost. */
export const accountOperations = async (
  { database, parse, pocketBase }: Databases,
  publishableKey: string,
): Promise<Operation[]> => {
  const match = await findProjectByKey(publishableKey, '');
  if (!match) throw new Error('The project of the benchmark cannot be found');
  const stored = await hash(password, { cost: passwordCost });
  const accounts = await addAccounts(database, stored);
  const emails = accounts.map(({ email }) => email);
  const parsePeople = await addPeople(parse, emails, stored);
  const pocketBasePeople = pocketBase && (await addPocketBasePeople(pocketBase, emails, { hash: stored, password }));
  const bench = { project: match.project, publishableKey, database, accounts };
  return [signUp, logIn, refresh, me].map(({ request, parse: ofParse, pocketbase: ofPocketBase, ...compared }) => ({
    ...compared,
    peers: [...(ofParse ? (['parse'] as const) : []), ...(ofPocketBase ? (['pocketbase'] as const) : [])],
    prepare: (name, _target, seconds) => {
      if (name === 'parse' && ofParse) return ofParse(parsePeople, seconds);
      if (name === 'pocketbase' && ofPocketBase && pocketBasePeople) return ofPocketBase(pocketBasePeople, seconds);
      return request(name, bench, seconds);
    },
  }));
};
