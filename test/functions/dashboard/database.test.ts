import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as disconnectDatabase } from '../../../functions/dashboard/database/disconnect-database.ts';
import { handler as getDatabase } from '../../../functions/dashboard/database/get-database.ts';
import { inProcess } from '../../../infra/local/in-process.ts';
import { startInvocations } from '../../../infra/local/invocations.ts';
import { createCollection } from '../../../shared/collections/create-collection.ts';
import { deleteCollection } from '../../../shared/collections/delete-collection.ts';
import { updateCollection } from '../../../shared/collections/update-collection.ts';
import type { Verdict } from '../../../shared/customer-database/verification.ts';
import { closeLambda } from '../../../shared/persistence/lambda.ts';
import { onControl, onManaged } from '../../../shared/persistence/mongo.ts';
import type { ProjectRecord } from '../../../shared/projects/project.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { hastenLimits } from '../../support/faults/hasten-limits.ts';
import { type OwnDatabase, startOwnDatabase } from '../../support/fixtures/own-database.ts';
import { connectOwn } from '../../support/fixtures/own-project.ts';
import { type Developer, newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject, storedUsers } from '../../support/fixtures/stored-users.ts';
import { users } from '../../support/fixtures/users.ts';

listenToCommands();

type Verifier = (event: unknown) => unknown;

/** The verifiers’ behavior by the last letter of their name; without an entry they verify. */
const scripted = vi.hoisted(() => new Map<string, Verifier>());
const sent: string[] = [];
const real = inProcess();

let own: OwnDatabase;
let project: TestProject;
let developer: Developer;
let stopInvocations: () => Promise<void>;

const startVerifiers = async (): Promise<Readonly<Record<string, string>>> => {
  const { environment, stop } = await startInvocations(async (name, event) => {
    sent.push(JSON.stringify(event));
    const verifier = scripted.get(name.slice(-1));
    return (await (verifier ? verifier(event) : real(name, event))) as never;
  });
  stopInvocations = stop;
  return environment;
};

beforeAll(async () => {
  const environment = await startVerifiers();
  Object.assign(process.env, environment, { VERIFIER_IP_A: '192.0.2.1', VERIFIER_IP_B: '192.0.2.2' });
  own = await startOwnDatabase();
  developer = await newDeveloper();
  project = await newProject([{ name: 'notes' }], developer);
});

beforeEach(() => {
  sent.length = 0;
});
afterEach(() => scripted.clear());
afterAll(async () => {
  closeLambda();
  await stopInvocations();
  await own.stop();
});

const recordOf = async ({ id }: TestProject): Promise<ProjectRecord> => {
  const record = await onControl((db) =>
    db.collection<ProjectRecord>('projects').findOne({ _id: ObjectId.createFromHexString(id) }),
  );
  if (!record) throw new Error('The project is gone');
  return record;
};

const script = (a: Verdict | Verifier, b: Verdict | Verifier): void => {
  for (const [letter, act] of [
    ['a', a],
    ['b', b],
  ] as const) {
    scripted.set(letter, typeof act === 'function' ? act : () => ({ verdict: act }));
  }
};

const disconnect = (of: TestProject) =>
  invoke(disconnectDatabase, { token: of.developer.token, params: { projectId: of.id } });

const indexNames = async (database: string, collection: string): Promise<string[]> =>
  (await own.client.db(database).collection(collection).listIndexes().toArray()).map(({ name }) => String(name)).sort();

const restricted = 'DB URI is pointing to a restricted host, internal network, or unsupported URI format.';
const notConnected = 'Could not connect to the provided MongoDB URI.';
const notVerified = 'Public API verification could not be completed (network/timeout). Please try again later.';
const denied = (provider: string): string =>
  `Access Denied: Please whitelist Server IPs 192.0.2.1, 192.0.2.2 in ${provider}`;

describe('400 and nothing is stored', () => {
  afterEach(async () => expect((await recordOf(project)).placement).toEqual({ kind: 'managed', cell: 'main' }));

  test.each([
    'mongodb://localhost/x',
    'mongodb://127.0.0.1/x',
    'mongodb://0x7f000001/x',
    'mongodb://[::ffff:127.0.0.1]/x',
    'mongodb://ann:s3cret@169.254.169.254/x',
    'mongodb://db.example.com,10.0.0.1/x',
    'mongodb://%2Ftmp%2Fmongodb-27017.sock',
    'mongodb://db.example.com/x?proxyHost=127.0.0.1',
    'mongodb://db.example.com/x?authMechanism=MONGODB-AWS',
    'postgres://db.example.com/x',
    'mongodb+srv://metadata.google.internal/x',
    'mongodb',
    '',
  ])('the spelling of the URI is restricted, and no verifier is called: %s', async (uri) => {
    expect(await connectOwn(project, uri)).toMatchObject({
      status: 400,
      body: { code: 'DATABASE_URI_RESTRICTED', message: restricted, success: false },
    });
    expect(sent).toEqual([]);
  });

  test.each([[5], [null], [{ $ne: null }], [['mongodb://db.example.com']], [undefined]])(
    'the URI is not text: %j',
    async (uri) => {
      expect(await connectOwn(project, uri)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
      expect(sent).toEqual([]);
    },
  );

  const verdicts: readonly (readonly [a: Verdict, b: Verdict, code: string, message: string])[] = [
    ['restricted', 'restricted', 'DATABASE_URI_RESTRICTED', restricted],
    ['restricted', 'connected', 'DATABASE_URI_RESTRICTED', restricted],
    ['shut out', 'restricted', 'DATABASE_URI_RESTRICTED', restricted],
    ['unreachable', 'restricted', 'DATABASE_URI_RESTRICTED', restricted],
    ['connected', 'shut out', 'DATABASE_ACCESS_DENIED', denied('your database provider')],
    ['shut out', 'connected', 'DATABASE_ACCESS_DENIED', denied('your database provider')],
    ['connected', 'unreachable', 'DATABASE_ACCESS_DENIED', denied('your database provider')],
    ['shut out', 'shut out', 'DATABASE_ACCESS_DENIED', denied('your database provider')],
    ['unreachable', 'unreachable', 'DATABASE_NOT_CONNECTED', notConnected],
    ['unreachable', 'shut out', 'DATABASE_NOT_CONNECTED', notConnected],
    ['shut out', 'unreachable', 'DATABASE_NOT_CONNECTED', notConnected],
  ];
  test.each(verdicts)('%s and %s', async (a, b, code, message) => {
    script(a, b);
    const answer = await connectOwn(project, 'mongodb://ann:s3cret@db.example.com/x');
    expect(answer).toMatchObject({ status: 400, body: { code, message } });
    expect(sent).toHaveLength(2);
  });

  test.each([
    ['mongodb+srv://cluster0.ab1cd.mongodb.net/x', 'MongoDB Atlas'],
    ['mongodb://a-shard-00-00.ab1cd.mongodb.net,b-shard-00-01.ab1cd.mongodb.net/x', 'MongoDB Atlas'],
    ['mongodb+srv://c.global.mongocluster.cosmos.azure.com/x', 'Azure Cosmos DB'],
    ['mongodb://acc.mongo.cosmos.azure.com:10255/x?ssl=true', 'Azure Cosmos DB'],
    ['mongodb://acc.documents.azure.com:10255/x?ssl=true', 'Azure Cosmos DB'],
    ['mongodb://mongodb.net.example.com/x', 'your database provider'],
    ['mongodb://evilmongodb.net/x', 'your database provider'],
  ])('access is denied, and the message names the provider of the host: %s', async (uri, provider) => {
    script('shut out', 'shut out');
    expect((await connectOwn(project, uri)).body.message).toBe(denied(provider));
  });

  const failures: readonly (readonly [string, Verifier])[] = [
    ['fails', () => Promise.reject(new Error('out of memory'))],
    ['returns nothing', () => null],
    ['returns an unknown verdict', () => ({ verdict: 'perhaps' })],
    ['returns an error', () => ({ errorMessage: 'x' })],
  ];
  test.each(failures)('a verifier %s', async (_, failure) => {
    script('connected', failure);
    expect(await connectOwn(project, 'mongodb://db.example.com/x')).toMatchObject({
      status: 400,
      body: { code: 'DATABASE_NOT_VERIFIED', message: notVerified },
    });
  });

  test('a verifier that cannot be reached', async () => {
    await stopInvocations();
    closeLambda();
    expect((await connectOwn(project, 'mongodb://db.example.com/x')).body.message).toBe(notVerified);
    Object.assign(process.env, { AWS_ENDPOINT_URL_LAMBDA: (await startVerifiers()).AWS_ENDPOINT_URL_LAMBDA });
    closeLambda();
  });

  test('a verifier that does not respond within 9.5 seconds', async () => {
    script('connected', () => new Promise(() => undefined));
    const limits = hastenLimits();
    expect((await connectOwn(project, 'mongodb://db.example.com/x')).body.message).toBe(notVerified);
    expect(limits).toEqual([9500, 9500]);
    vi.restoreAllMocks();
  });

  test('a real database that does not know the account', async () => {
    expect((await connectOwn(project, `mongodb://ann:wrong@${own.address}/x`)).body.message).toBe(notConnected);
  });
});

test('400: neither the verifiers’ requests nor the response contain the URI in plain text', async () => {
  script('unreachable', 'unreachable');
  const answer = await connectOwn(project, 'mongodb://ann:s3cret@db.example.com/secretdb');
  for (const text of [...sent, JSON.stringify(answer.body)])
    expect(text).not.toMatch(/s3cret|secretdb|db\.example|ann:/);
  expect(sent).toHaveLength(2);
});

test('404 for the project of another developer, on every route', async () => {
  const { token } = await newDeveloper();
  const stranger = { ...project, developer: { ...developer, token } };
  const params = { projectId: project.id };
  for (const answer of [
    await connectOwn(stranger, own.uri('stolen')),
    await disconnect(stranger),
    await invoke(getDatabase, { token, params }),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
  }
  expect(sent).toEqual([]);
});

describe('a database that both verifiers reach', () => {
  let of: TestProject;
  const fields = [
    { key: 'sku', type: 'String', required: true, unique: true },
    { key: 'maker', type: 'Ref', ref: 'makers' },
    { key: 'place', type: 'Object' },
  ];

  beforeAll(async () => {
    of = await newProject([{ name: 'makers' }, { name: 'items', schema: fields }, users], developer);
    await of.api('POST', '/api/data/items', { body: { sku: 'managed' } });
    const index = { keys: { place: '2dsphere' }, name: 'by_place' };
    expect((await developer.dashboard('POST', `/api/projects/${of.id}/collections/items/indexes`, index)).status).toBe(
      201,
    );
  });

  test('200 and it is connected, with the indexes of every collection except users', async () => {
    const uri = own.uri('shop', 'appName=mine&maxPoolSize=100');
    const answer = await connectOwn(of, uri);
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true, data: { _id: of.id, database: { external: true, host: own.address } } },
    });
    expect(answer.body.message).toContain('none were copied');
    expect(await indexNames('shop', 'items')).toEqual(
      ['_id_', 'basalt_read_maker', 'basalt_read_sku', 'basalt_trash', 'basalt_unique_String_sku', 'by_place'].sort(),
    );
    expect(await indexNames('shop', 'makers')).toEqual(['_id_', 'basalt_trash']);
    const names = (await own.client.db('shop').listCollections().toArray()).map(({ name }) => name).sort();
    expect(names).toEqual(['items', 'makers']);
    const { placement } = await recordOf(of);
    expect(placement).toMatchObject({ kind: 'external', host: own.address });
    expect(JSON.stringify(placement)).not.toContain('appName');
  });

  test('200: the project shows its host, and the addresses that it must allow', async () => {
    const shown = await developer.dashboard<{ data: object }>('GET', `/api/projects/${of.id}`);
    expect(shown.body.data).toMatchObject({ database: { external: true, host: own.address } });
    const params = { projectId: of.id };
    expect((await invoke(getDatabase, { token: developer.token, params })).body.data).toEqual({
      external: true,
      host: own.address,
      serverIps: ['192.0.2.1', '192.0.2.2'],
    });
  });

  test('200: connecting again replaces the database completely or not at all', async () => {
    expect((await connectOwn(of, own.uri('shop2'))).status).toBe(200);
    expect(await indexNames('shop2', 'items')).toContain('basalt_unique_String_sku');
    const before = (await recordOf(of)).placement;
    expect((await connectOwn(of, 'mongodb://10.0.0.1/x')).status).toBe(400);
    expect((await recordOf(of)).placement).toEqual(before);
  });

  test('409 when documents there violate the schema; nothing changes', async () => {
    const before = (await recordOf(of)).placement;
    const twins = own.client.db('twins').collection('items');
    await twins.insertMany([{ sku: 'same' }, { sku: 'same' }]);
    expect(await connectOwn(of, own.uri('twins'))).toMatchObject({
      status: 409,
      body: { code: 'SCHEMA_CONFLICT', errors: [{ field: 'items', message: expect.stringContaining('sku') }] },
    });
    expect((await recordOf(of)).placement).toEqual(before);
    await twins.deleteOne({ sku: 'same' });
    expect((await connectOwn(of, own.uri('twins'))).status).toBe(200);
  });

  test('409 when an index there conflicts', async () => {
    await own.client.db('odd').collection('items').createIndex({ other: 1 }, { name: 'by_place' });
    expect(await connectOwn(of, own.uri('odd'))).toMatchObject({ status: 409, body: { code: 'SCHEMA_CONFLICT' } });
  });

  test('200: equal indexes with other names are used', async () => {
    const items = own.client.db('made').collection('items');
    await items.createIndex({ maker: 1, _id: 1 }, { name: 'mine' });
    await items.createIndex({ deletedAt: 1 }, { name: 'bin', partialFilterExpression: { isDeleted: true } });
    await items.createIndex({ place: '2dsphere' }, { name: 'theirs' });
    expect((await connectOwn(of, own.uri('made'))).status).toBe(200);
    expect(await indexNames('made', 'items')).toEqual([
      '_id_',
      'basalt_read_sku',
      'basalt_unique_String_sku',
      'bin',
      'mine',
      'theirs',
    ]);
  });

  test('200: disconnecting returns to the documents in the service’s database', async () => {
    expect(await disconnect(of)).toMatchObject({ status: 200, body: { data: { database: { external: false } } } });
    expect((await recordOf(of)).placement).toEqual({ kind: 'managed', cell: 'main', since: expect.any(Date) });
    const listed = await of.api<{ data: { items: object[] } }>('GET', '/api/data/items');
    expect(listed.body.data.items).toMatchObject([{ sku: 'managed' }]);
    expect(await own.client.db('made').listCollections().toArray()).not.toEqual([]);
  });

  test('200: disconnecting when no database is connected', async () => {
    expect(await disconnect(of)).toMatchObject({ status: 200, body: { data: { database: { external: false } } } });
  });

  test('200: disconnecting works while the project’s own database is down', async () => {
    expect((await connectOwn(of, own.uri('shop'))).status).toBe(200);
    await own.proxy.refuse();
    const answer = await disconnect(of);
    await own.proxy.heal();
    expect(answer.status).toBe(200);
  });
});

describe('collections of a connected project', () => {
  test('are created, edited and deleted there, and prepared again when the database is reconnected', async () => {
    const of = await newProject([{ name: 'old' }], developer);
    await of.api('POST', '/api/data/old', { body: { n: 1 } });
    expect((await connectOwn(of, own.uri('mine'))).status).toBe(200);
    await own.client.db('mine').collection('existing').insertOne({ kept: true });
    const domain = await domainProject(of);
    const sku = [{ key: 'sku', type: 'String', unique: true }];
    await createCollection(domain, 'items', { schema: sku });
    expect((await createCollection(domain, 'existing', { schema: null })).documents).toBe(1);
    await createCollection(domain, users.name, { schema: users.schema });
    expect(await indexNames('mine', 'items')).toContain('basalt_unique_String_sku');
    const names = async () => (await own.client.db('mine').listCollections().toArray()).map(({ name }) => name).sort();
    expect(await names()).toEqual(['existing', 'items', 'old']);
    expect(await storedUsers(of)).toEqual([]);
    await deleteCollection(domain, 'old');
    expect(await names()).toEqual(['existing', 'items']);
    expect((await disconnect(of)).status).toBe(200);
    const managed = await onManaged(domain, async (db) => ({
      names: (await db.listCollections().toArray()).map(({ name }) => name).sort(),
      indexes: (await db.collection('items').listIndexes().toArray()).map(({ name }) => name),
    }));
    expect(managed.names).toEqual(['existing', 'items', 'users']);
    expect(managed.indexes).toContain('basalt_unique_String_sku');
  });

  test('are named when the project returns and their documents in the service’s database violate the schema', async () => {
    const of = await newProject([{ name: 'items' }], developer);
    for (const sku of ['a', 'a']) await of.api('POST', '/api/data/items', { body: { sku } });
    expect((await connectOwn(of, own.uri('later'))).status).toBe(200);
    await updateCollection(await domainProject(of), 'items', {
      schema: [{ key: 'sku', type: 'String', unique: true }],
    });
    const answer = await disconnect(of);
    expect(answer.status).toBe(200);
    expect(answer.body.message).toContain('"items"');
  });
});

test('connecting calls each verifier once', async () => {
  const of = await newProject([{ name: 'notes' }], developer);
  const commands = await commandsOf(() => connectOwn(of, own.uri('counted')));
  expect(commands.filter((command) => command === 'lambda InvokeCommand')).toHaveLength(2);
});
