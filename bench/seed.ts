import { randomUUID } from 'node:crypto';
import { type Collection, MongoClient } from 'mongodb';
import { setPlan } from '../shared/developers/set-plan.ts';
import { sampleDocument } from './operations.ts';

export interface Bed {
  readonly projectId: string;
  readonly database: string;
  readonly secretKey: string;
  readonly publishableKey: string;
  readonly dashboardToken: string;
  /** Calls the dashboard API as the project's developer. */
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

/** Makes a project with user accounts, and with collections of this name, each with a schema and an index on `author`, through the dashboard API. */
export const makeBed = async (dashboardUrl: string, collections: readonly string[]): Promise<Bed> => {
  const account = { email: `bench-${randomUUID()}@example.com`, password: 'a password for the benchmark' };
  const { data } = await send<{ data: { accessToken: string } }>('POST', `${dashboardUrl}/api/auth/register`, account);
  const dashboardToken = data.accessToken;
  await setPlan(account.email, 'pro');
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
  return { projectId, database: `p_${projectId}`, secretKey, publishableKey, dashboardToken, dashboard };
};

const batch = 5000;

/** Puts `count` documents into a collection as the service stores them; `onProgress` gets how many there are. */
export const fill = async (
  collection: Collection,
  count: number,
  onProgress: (done: number) => void,
): Promise<void> => {
  for (let done = 0; done < count; done += batch) {
    const now = new Date();
    const documents = Array.from({ length: Math.min(batch, count - done) }, (_, index) => ({
      ...sampleDocument(done + index),
      isDeleted: false,
      deletedAt: null,
      createdAt: now,
      updatedAt: now,
    }));
    await collection.insertMany(documents, { ordered: false });
    onProgress(Math.min(count, done + batch));
  }
};

/** Ids of documents that are there, at most `count`, in an order that jumps about. */
export const idsOf = async (collection: Collection, count: number): Promise<string[]> => {
  const found = await collection
    .find({ isDeleted: false }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(count)
    .toArray();
  const ids = found.map(({ _id }) => String(_id));
  const step = 7919 % Math.max(1, ids.length);
  return ids.map((_, index) => ids[(index * step) % ids.length] ?? '');
};

export const connect = (uri: string): Promise<MongoClient> => new MongoClient(uri).connect();
