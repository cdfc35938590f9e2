import { randomUUID } from 'node:crypto';
import { type Collection, type Db, MongoClient } from 'mongodb';
import { developerAccounts, setPlan } from '../shared/accounts/developers/developers.ts';
import { markVerified } from '../shared/accounts/email-proofs.ts';
import { newFuse } from '../shared/documents/store/fuse.ts';
import type { Name } from './operation.ts';
import { sampleDocument, sampleWriter } from './samples.ts';

export interface Bed {
  readonly projectId: string;
  readonly database: string;
  readonly secretKey: string;
  readonly publishableKey: string;
  readonly account: { readonly email: string; readonly password: string };
  readonly dashboardToken: string;
  /** Signs the developer in again; a token expires after 15 minutes. */
  readonly newDashboardToken: () => Promise<string>;
  /** Calls the dashboard API as the developer. */
  readonly dashboard: <T>(method: string, path: string, body: unknown) => Promise<T>;
}

const send = async <T>(method: string, url: string, body: unknown, token?: string): Promise<T> => {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
};

const schema = [
  { key: 'title', type: 'String', required: true },
  { key: 'author', type: 'String' },
  { key: 'body', type: 'String' },
  { key: 'likes', type: 'Number', default: 0 },
  { key: 'published', type: 'Boolean', default: false },
  { key: 'tags', type: 'Array', items: { type: 'String' } },
];

const usersSchema = [
  { key: 'email', type: 'String', required: true },
  { key: 'password', type: 'String', required: true },
];

/**
 * Creates a project with user accounts and these collections through the dashboard API. Each has a schema and an index
 * on `author`.
 */
export const makeBed = async (dashboardUrl: string, collections: readonly string[]): Promise<Bed> => {
  const account = { email: `bench-${randomUUID()}@example.com`, password: 'a password for the benchmark' };
  const tokenFrom = async (route: 'register' | 'login'): Promise<string> =>
    (await send<{ data: { accessToken: string } }>('POST', `${dashboardUrl}/api/auth/${route}`, account)).data
      .accessToken;
  const dashboardToken = await tokenFrom('register');
  await setPlan(account.email, 'pro');
  await markVerified(developerAccounts, { email: account.email });
  const dashboard: Bed['dashboard'] = (method, path, body) =>
    send(method, `${dashboardUrl}${path}`, body, dashboardToken);
  const made = await dashboard<{ data: { _id: string; secretKey: string; publishableKey: string } }>(
    'POST',
    '/api/projects',
    { name: 'bench', authEnabled: true },
  );
  const { _id: projectId, secretKey, publishableKey } = made.data;
  const base = `/api/projects/${projectId}/collections`;
  for (const name of collections) {
    await dashboard('POST', base, { name, schema });
    await dashboard('POST', `${base}/${name}/indexes`, { keys: { author: 1, _id: 1 } });
  }
  await dashboard('POST', base, { name: 'users', schema: usersSchema });
  return {
    projectId,
    database: `p_${projectId}`,
    secretKey,
    publishableKey,
    account,
    dashboardToken,
    newDashboardToken: () => tokenFrom('login'),
    dashboard,
  };
};

const batch = 5000;

/** The fields that only the service stores. */
export const stampsOf = (name: Name) => (name === 'bare' ? {} : { _rev: 1, ...newFuse });

/** Inserts `count` documents with the service's stored form. `onProgress` gets their number, `more` adds fields. */
export const fill = async (
  collection: Collection,
  count: number,
  onProgress: (done: number) => void,
  more: (index: number) => object = () => ({}),
): Promise<void> => {
  for (let done = 0; done < count; done += batch) {
    const now = new Date();
    const documents = Array.from({ length: Math.min(batch, count - done) }, (_, index) => ({
      ...sampleDocument(done + index),
      ...more(done + index),
      isDeleted: false,
      deletedAt: null,
      createdAt: now,
      updatedAt: now,
    }));
    await collection.insertMany(documents, { ordered: false });
    onProgress(Math.min(count, done + batch));
  }
};

/** The values in a pseudo-random order. */
export const jumping = (values: readonly string[]): string[] => {
  const step = 7919 % Math.max(1, values.length);
  return values.map((_, index) => values[(index * step) % values.length] ?? '');
};

/** Ids of at most `count` existing documents in a pseudo-random order. */
export const idsOf = async (collection: Collection, count: number): Promise<string[]> => {
  const found = await collection
    .find({ isDeleted: false }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(count)
    .toArray();
  return jumping(found.map(({ _id }) => String(_id)));
};

/** A collection with references, and its target. */
export const joined = 'joined';
export const writers = 'writers';
export const writersCount = 100;

export const addJoined = async ({ projectId, dashboard }: Bed, database: Db, count: number): Promise<void> => {
  const base = `/api/projects/${projectId}/collections`;
  const text = { type: 'String' };
  await dashboard('POST', base, {
    name: writers,
    schema: [
      { key: 'name', ...text },
      { key: 'about', ...text },
    ],
  });
  await dashboard('POST', base, { name: joined, schema: [...schema, { key: 'writer', type: 'Ref', ref: writers }] });
  const now = new Date();
  const stamps = { isDeleted: false, deletedAt: null, createdAt: now, updatedAt: now };
  const people = Array.from({ length: writersCount }, (_, index) => ({ ...sampleWriter(index), ...stamps }));
  const { insertedIds } = await database.collection(writers).insertMany(people);
  const more = (index: number) => ({ writer: insertedIds[index % writersCount] });
  await fill(database.collection(joined), count, () => undefined, more);
};

/** A collection with two indexed fields and a search index. */
export const searched = 'searched';

export const addSearched = async ({ projectId, dashboard }: Bed, database: Db, count: number): Promise<void> => {
  const base = `/api/projects/${projectId}/collections`;
  const fields = schema.map((field) => (field.key === 'title' ? { ...field, searchable: true } : field));
  await dashboard('POST', base, { name: searched, schema: fields });
  for (const key of ['author', 'likes']) {
    await dashboard('POST', `${base}/${searched}/indexes`, { keys: { [key]: 1, _id: 1 } });
  }
  await fill(database.collection(searched), count, () => undefined);
};

export const connect = (uri: string): Promise<MongoClient> => new MongoClient(uri).connect();
