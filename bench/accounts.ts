import { randomUUID } from 'node:crypto';
import { hash } from '@node-rs/bcrypt';
import { type Db, ObjectId } from 'mongodb';
import { issueAccessToken } from '../shared/auth/access-tokens.ts';
import { startSession } from '../shared/auth/refresh-sessions.ts';
import { projectScope } from '../shared/auth/session-keys.ts';
import { findProjectByKey } from '../shared/projects/find-project.ts';
import type { Project } from '../shared/projects/project.ts';
import { type Contenders, compareBy, type Name, type Outcome, type Plan } from './compare.ts';
import { type LoadRequest, measure } from './load.ts';
import type { Compared } from './operations.ts';

/** What every log-in costs, at the service's default. */
export const passwordCost = 12;

/** So many that no address is tried more than five times at once, which would lock it. */
const people = 200;
/** More than there are connections, so that each request finds a token that is not in use. */
const sessions = 200;
const password = 'a password for the benchmark';

interface Account {
  readonly id: string;
  readonly email: string;
}

const addAccounts = async (database: Db): Promise<Account[]> => {
  const stored = await hash(password, { cost: passwordCost });
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

const inTurn = <T>(values: readonly T[]): (() => T) => {
  let at = 0;
  return () => values[at++ % values.length] as T;
};

const client = { ip: '127.0.0.1', userAgent: 'bench' };

interface Bench {
  readonly project: Project;
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

interface AccountOperation extends Compared {
  /** How many times longer than others it is measured. */
  readonly longer: number;
  readonly request: (name: Name, bench: Bench) => Promise<LoadRequest>;
}

const area = 'user accounts';

const operations: readonly AccountOperation[] = [
  {
    name: 'log in',
    area,
    aim: { uncounted: 0.95, counted: 0.95 },
    longer: 2,
    request: async (_name, { accounts }) => {
      const next = inTurn(accounts);
      return {
        method: 'POST',
        connections: 4,
        path: () => '/api/userAuth/login',
        body: () => JSON.stringify({ email: next().email, password }),
      };
    },
  },
  {
    name: 'refresh',
    area,
    aim: { uncounted: 0.25, counted: 0.25 },
    longer: 1,
    request: async (name, bench) => {
      const tokens = await refreshTokens(name, bench);
      return {
        method: 'POST',
        path: () => '/api/userAuth/refresh-token',
        headers: () => ({ 'x-refresh-token': tokens.shift() ?? '' }),
        onAnswer: (body) => tokens.push((JSON.parse(body) as { refreshToken: string }).refreshToken),
      };
    },
  },
  {
    name: 'me',
    area,
    aim: { uncounted: 0.6, counted: 0.25 },
    longer: 1,
    request: async (name, { project, accounts }) => {
      const tokens: string[] = [];
      for (const { id } of accounts) {
        const session = { userId: id, sessionId: '0'.repeat(24) };
        tokens.push(name === 'bare' ? id : (await issueAccessToken(project, session)).accessToken);
      }
      const next = inTurn(tokens);
      return {
        method: 'GET',
        path: () => '/api/userAuth/me',
        headers: () => ({ authorization: `Bearer ${next()}` }),
      };
    },
  },
];

/** Compares what is done with user accounts: the bare server does the one command it takes, and bcrypt at the same cost. */
export const compareAccounts = async (
  contenders: Contenders,
  database: Db,
  publishableKey: string,
  plan: Plan,
): Promise<Outcome[]> => {
  const match = await findProjectByKey(publishableKey, '');
  if (!match) throw new Error('The project of the benchmark cannot be found');
  const bench = { project: match.project, database, accounts: await addAccounts(database) };
  return compareBy<AccountOperation>(contenders, operations, plan, async ({ request, longer }, name, warm) => {
    const target = contenders[name];
    const keyed = name === 'bare' ? target : { ...target, headers: { 'x-api-key': publishableKey } };
    const load = await request(name, bench);
    if (!warm) await measure(keyed, load, 1);
    return measure(keyed, load, plan.seconds * longer);
  });
};
