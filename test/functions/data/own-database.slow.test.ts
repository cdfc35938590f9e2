import { Decimal128, Long, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handler as getCollection } from '../../../functions/dashboard/collections/get-collection.ts';
import { handler as listCollections } from '../../../functions/dashboard/collections/list-collections.ts';
import { handler as aggregateDocuments } from '../../../functions/data/aggregate-documents.ts';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as restoreDocument } from '../../../functions/data/restore-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { removeDeletedProjects } from '../../../shared/deletion/projects.ts';
import { afterPosition } from '../../../shared/documents/query/cursor.ts';
import { parseSort, toMongoSort } from '../../../shared/documents/query/sort.ts';
import { onControl, onManaged } from '../../../shared/persistence/mongo.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { promisedMs } from '../../support/data/promised.ts';
import { type OwnDatabase, startOwnDatabase } from '../../support/fixtures/own-database.ts';
import { connectOwn, serveVerifiers } from '../../support/fixtures/own-project.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { storedUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

type Handler = Parameters<typeof invoke>[0];

const realNow = clock.now;
const advance = (ms: number): void => {
  const before = clock.now;
  clock.now = () => before() + ms;
};

let own: OwnDatabase;
let stopVerifiers: () => Promise<void>;
let external: UsersProject;
let managed: TestProject;

const notes = [
  { key: 'text', type: 'String' },
  { key: 'author', type: 'Ref', ref: 'users' },
];

const connect = async (project: TestProject, database: string): Promise<void> => {
  const answer = await connectOwn(project, own.uri(database));
  if (answer.status !== 200) throw new Error(`connecting answered ${JSON.stringify(answer.body)}`);
};

const ask = (project: TestProject, handler: Handler, { params, ...options }: InvokeOptions = {}) =>
  invoke(handler, { key: project.secretKey, params: { collectionName: 'notes', ...params }, ...options });

beforeAll(async () => {
  own = await startOwnDatabase();
  stopVerifiers = await serveVerifiers();
  external = await newUsersProject();
  await external.addCollection({ name: 'notes', schema: notes });
  await external.addCollection({ name: 'free' });
  await external.addCollection({ name: 'huge' });
  await external.addCollection({ name: 'mixed' });
  managed = await newProject([{ name: 'notes', schema: notes }, { name: 'free' }]);
  await connect(external, 'own');
});

afterEach(() => {
  clock.now = realNow;
});

afterAll(async () => {
  await stopVerifiers();
  await own.stop();
});

const stored = (collection: string) => own.client.db('own').collection(collection);

describe('documents of a project with its own database', () => {
  test('are stored there by every operation, and not in the database of the service', async () => {
    const made = await ask(external, createDocument, { body: { text: 'a' } });
    expect(made).toMatchObject({ status: 201, body: { text: 'a', isDeleted: false } });
    const _id = new ObjectId(String(made.body._id));
    const params = { id: _id.toHexString() };
    expect(await stored('notes').findOne({ _id })).toMatchObject({ text: 'a' });
    expect(await ask(external, getDocument, { params })).toMatchObject({ status: 200, body: { text: 'a' } });
    const changed = await ask(external, updateDocument, { params, body: { text: 'b' } });
    expect(changed).toMatchObject({ status: 200, body: { data: { text: 'b' } } });
    const pipeline = [{ $match: { text: 'b' } }, { $count: 'n' }];
    expect((await ask(external, aggregateDocuments, { body: { pipeline } })).body.data).toEqual([{ n: 1 }]);
    expect((await ask(external, deleteDocument, { params })).status).toBe(200);
    expect(await stored('notes').findOne({ _id })).toMatchObject({ isDeleted: true });
    expect((await ask(external, restoreDocument, { params })).status).toBe(200);
    const bulk = await ask(external, createDocuments, { body: [{ text: 'c' }, { text: 'd' }] });
    expect(bulk.status).toBe(201);
    const listed = await ask(external, listDocuments, { query: 'count=true' });
    expect(listed.body).toMatchObject({ data: { count: 3 } });
    const removed = await ask(external, deleteDocument, { params, query: 'permanent=true' });
    expect(removed.status).toBe(200);
    expect(await stored('notes').countDocuments()).toBe(2);
    expect(await onManaged(external, (db) => db.collection('notes').countDocuments())).toBe(0);
  });

  test('400 and 413 when an external write made a document too large for a response; it does not change', async () => {
    const _id = new ObjectId();
    await stored('huge').insertOne({ _id, text: '\u0001'.repeat(1_000_000), small: 1 });
    const params = { collectionName: 'huge', id: _id.toHexString() };
    const tooLarge = { status: 400, body: { code: 'RESULT_TOO_LARGE' } };
    expect(await ask(external, getDocument, { params })).toMatchObject(tooLarge);
    expect(await ask(external, listDocuments, { params })).toMatchObject(tooLarge);
    const fields = await ask(external, listDocuments, { params, query: 'fields=small' });
    expect(fields).toMatchObject({ status: 200, body: { data: { items: [{ small: 1 }] } } });
    const changed = await ask(external, updateDocument, { params, body: { small: 2 } });
    expect(changed).toMatchObject({ status: 413, body: { code: 'DOCUMENT_TOO_LARGE' } });
    expect((await ask(external, deleteDocument, { params })).status).toBe(200);
    const recovered = await ask(external, restoreDocument, { params });
    expect(recovered).toMatchObject({ status: 413, body: { code: 'DOCUMENT_TOO_LARGE' } });
    expect(await stored('huge').findOne({ _id }, { projection: { text: 0 } })).toMatchObject({
      small: 1,
      isDeleted: true,
    });
    expect((await ask(external, deleteDocument, { params, query: 'permanent=true' })).status).toBe(200);
  });

  test('may be written by other programs', async () => {
    const odd = new ObjectId();
    await stored('free').insertMany([
      { _id: odd, big: Long.fromString('9007199254740993'), exact: Decimal128.fromString('1.5'), text: 'x' },
      { _id: 'a name' as never, nested: { big: [Long.MAX_VALUE] } },
      { _id: 7 as never, isDeleted: true, deletedAt: new Date() },
    ]);
    const params = { collectionName: 'free', id: odd.toHexString() };
    const shown = { big: 9007199254740992, exact: 1.5, text: 'x', isDeleted: false, deletedAt: null };
    expect((await ask(external, getDocument, { params })).body).toMatchObject(shown);
    const updated = await ask(external, updateDocument, { params, body: { text: 'y' } });
    expect(updated.body.data).toMatchObject({ ...shown, text: 'y' });
    await ask(external, deleteDocument, { params });
    expect((await ask(external, restoreDocument, { params })).body.data).toMatchObject({ ...shown, text: 'y' });
    const listed = await ask(external, listDocuments, { params: { collectionName: 'free' } });
    expect(listed.body.data).toMatchObject({ total: 2 });
    const { items } = listed.body.data as { items: Record<string, unknown>[] };
    expect(items.find(({ _id }) => _id === 'a name')).toMatchObject({ nested: { big: [Number(Long.MAX_VALUE)] } });
  });

  describe('may have ids of several types:', () => {
    const ids = [7, -1.5, 'a', 'b', '', { a: 1 }, true, new Date(0), new ObjectId(), new ObjectId(), new ObjectId()];
    const mixed = (query: string) =>
      ask(external, listDocuments, { params: { collectionName: 'mixed' }, query: `fields=n&${query}` });
    const numbers = ({ body }: Awaited<ReturnType<typeof mixed>>) =>
      (body.data as { items: { n: number }[] }).items.map(({ n }) => n);

    const walk = async (query: string): Promise<number[]> => {
      const seen: number[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page = await mixed(`${query}&cursor=${encodeURIComponent(cursor)}`);
        expect(page.status, JSON.stringify(page.body)).toBe(200);
        seen.push(...numbers(page));
        cursor = (page.body.data as { nextCursor: string | null }).nextCursor;
      }
      return seen;
    };

    beforeAll(async () => {
      const tagged = (n: number) =>
        new Map<string, unknown>([
          ['_bsontype', n % 3 === 0 ? 'ObjectId' : 'Long'],
          ['n', n % 5],
        ]);
      const documents = ids.map((_id, n) => ({
        _id: _id as never,
        n,
        tie: n % 2,
        tagged: tagged(n),
        text: 'x'.repeat(1_500_000),
      }));
      await stored('mixed').insertMany(documents);
    });

    test.each(['', '_id', 'tie', '-tie', 'missing', 'tagged', '-tagged'])(
      '200 for each page of the order "%s"',
      async (sort) => {
        const whole = numbers(await mixed(`sort=${sort}`));
        expect(whole).toHaveLength(ids.length);
        for (const limit of [1, 2, 3]) expect(await walk(`sort=${sort}&limit=${limit}`)).toEqual(whole);
      },
    );

    test.each(['', '_id', 'tie'])('200 for pages of 5 MiB in the order "%s", up to the last one', async (sort) => {
      const whole = numbers(await mixed(`sort=${sort}`));
      const seen: number[] = [];
      let rest = '&cursor=';
      for (;;) {
        const { body } = await ask(external, listDocuments, {
          params: { collectionName: 'mixed' },
          query: `sort=${sort}${rest}`,
        });
        const data = body.data as { items: { n: number }[]; truncated?: true; nextCursor?: string | null };
        seen.push(...data.items.map(({ n }) => n));
        if (!data.nextCursor) break;
        rest = `&cursor=${encodeURIComponent(data.nextCursor)}`;
      }
      expect(seen).toEqual(whole);
    });

    test('documents after another one are found by the index', async () => {
      const sort = parseSort('');
      const next = afterPosition(sort, [ids.at(-2)], 'any');
      const plan = await stored('mixed').find(next).sort(toMongoSort(sort)).limit(2).explain('executionStats');
      expect(JSON.stringify(plan)).toContain('"indexName":"_id_"');
      expect(plan.executionStats).toMatchObject({ totalKeysExamined: 2, totalDocsExamined: 2 });
    });
  });

  test('have no storage limit of the service', async () => {
    const free = await newProject([{ name: 'notes' }]);
    await connect(free, 'roomy');
    const commands = await commandsOf(() => ask(free, createDocument, { body: { a: 1 } }));
    expect(commands).not.toContain('mongodb dbStats');
  });
});

describe('users of a project with its own database', () => {
  test('are in the service’s database, and appear in populated references', async () => {
    const user = await external.newUser({ username: 'ann', name: 'Ann' });
    expect(await storedUsers(external)).toHaveLength(1);
    expect(await own.client.db('own').listCollections({ name: 'users' }).toArray()).toEqual([]);
    const made = await ask(external, createDocument, { body: { text: 'by Ann', author: user.userId } });
    const params = { id: String(made.body._id) };
    const got = await ask(external, getDocument, { params, query: 'populate=author' });
    expect(got.body.author).toMatchObject({ _id: user.userId, username: 'ann', name: 'Ann' });
    expect(JSON.stringify(got.body)).not.toMatch(/password|@example\.com/);
    const listed = await ask(external, listDocuments, { query: 'populate=author&text=by Ann' });
    expect(listed.body.data).toMatchObject({ items: [{ author: { username: 'ann' } }] });
    expect((await external.logIn({ email: user.email, password: user.password })).status).toBe(200);
  });
});

describe('a warm request on the project’s own database needs the commands of one on the hosted database:', () => {
  const query = 'limit=1';
  const cases: readonly (readonly [name: string, handler: Handler, options: InvokeOptions])[] = [
    ['create', createDocument, { body: { text: 'a' } }],
    ['bulk', createDocuments, { body: [{ text: 'a' }] }],
    ['list', listDocuments, { query }],
    ['aggregate', aggregateDocuments, { body: { pipeline: [{ $count: 'n' }] } }],
  ];
  const byId: readonly (readonly [name: string, handler: Handler, options: InvokeOptions])[] = [
    ['get', getDocument, {}],
    ['update', updateDocument, { body: { text: 'b' } }],
    ['delete', deleteDocument, {}],
    ['recover', restoreDocument, {}],
    ['remove', deleteDocument, { query: 'permanent=true' }],
  ];
  const ids = new Map<TestProject, string>();

  beforeAll(async () => {
    const frozen = Date.now();
    for (const project of [external, managed]) {
      ids.set(project, String((await ask(project, createDocument, { body: { text: 'x' } })).body._id));
      await ask(project, listDocuments, { query });
    }
    clock.now = () => frozen;
  });

  test.each([...cases, ...byId])('%s', async (name, handler, options) => {
    const run = (project: TestProject) => async () => {
      const params = byId.some(([other]) => other === name) ? { id: ids.get(project) ?? '' } : {};
      const { status } = await ask(project, handler, { params, ...options });
      expect(status).toBeLessThan(300);
    };
    const frozen = Date.now();
    clock.now = () => frozen;
    for (const project of [external, managed]) await ask(project, listDocuments, { query });
    expect(await commandsOf(run(external))).toEqual(await commandsOf(run(managed)));
  });
});

describe('two projects', () => {
  test('never mix in one process, however their requests interleave', async () => {
    const projects = await Promise.all(['one', 'two'].map(() => newProject([{ name: 'notes' }])));
    for (const [index, project] of projects.entries()) await connect(project, `mix${index}`);
    const all = [...projects, await newProject([{ name: 'notes' }])];
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, turn) => {
        const index = turn % all.length;
        return ask(all[index] as TestProject, createDocument, { body: { of: index } });
      }),
    );
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    for (const [index, project] of all.entries()) {
      const { body } = await ask(project, listDocuments, { query: 'limit=100' });
      const { items } = body.data as { items: { of: number }[] };
      expect(items.map((item) => item.of)).toEqual(Array.from({ length: 20 }, () => index));
    }
    for (const index of [0, 1]) {
      const documents = own.client.db(`mix${index}`).collection('notes');
      expect(await documents.countDocuments({ of: index })).toBe(20);
      expect(await documents.countDocuments()).toBe(20);
    }
  });

  test('move immediately in the process that moves them, and within 5 seconds in other processes', async () => {
    const now = realNow();
    clock.now = () => now;
    const project = await newProject([{ name: 'notes' }]);
    const texts = async () => {
      const { body } = await ask(project, listDocuments);
      return (body.data as { items: { text: string }[] }).items.map(({ text }) => text);
    };
    await ask(project, createDocument, { body: { text: 'ours' } });
    await own.client.db('moved').collection('notes').insertOne({ text: 'theirs' });
    await own.client.db('moved2').collection('notes').insertOne({ text: 'others' });
    expect(await texts()).toEqual(['ours']);
    const { dashboard } = project.developer;
    await connect(project, 'moved');
    expect(await texts()).toEqual(['theirs']);
    await connect(project, 'moved2');
    expect(await texts()).toEqual(['others']);
    expect((await dashboard('DELETE', `/api/projects/${project.id}/database`)).status).toBe(200);
    expect(await texts()).toEqual(['others']);
    advance(5001);
    expect(await texts()).toEqual(['ours']);
  });
});

describe('503 while the project’s own database is down, within 6 seconds and only for that project', () => {
  const faults: readonly (readonly [name: string, () => unknown])[] = [
    ['refuses connections', () => own.proxy.refuse()],
    ['is silent', () => own.proxy.hang()],
    ['is silent on the connections that there are', () => own.proxy.loseConnections()],
  ];

  test.each(faults)('when it %s', async (name, fault) => {
    for (const project of [external, managed]) expect((await ask(project, listDocuments)).status).toBe(200);
    await fault();
    try {
      const start = performance.now();
      let answered = false;
      const asked = ask(external, listDocuments).finally(() => {
        answered = true;
      });
      const theirs = await inParallel(20, () => ask(managed, listDocuments));
      expect(tally(theirs)).toEqual({ 200: 20 });
      if (name === 'is silent') expect(answered).toBe(false);
      const mine = await asked;
      expect(performance.now() - start).toBeLessThan(promisedMs);
      // New connections work when only old ones are lost, so the driver’s retry may succeed.
      if (name === 'is silent on the connections that there are' && mine.status === 200) return;
      expect(mine).toMatchObject({ status: 503, body: { code: 'OWN_DATABASE_UNAVAILABLE' } });
      expect(Number(mine.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await own.proxy.heal();
    }
    await expect.poll(async () => (await ask(external, listDocuments)).status).toBe(200);
  });

  test('and users still sign in', async () => {
    await own.proxy.refuse();
    try {
      const user = await external.newUser();
      expect((await external.auth('GET', 'me', { token: user.accessToken })).status).toBe(200);
    } finally {
      await own.proxy.heal();
    }
  });

  test('and collections are listed and read, with null as their document count', async () => {
    const { token } = external.developer;
    const read = async (handler: Handler, collectionName?: string) => {
      const params = { projectId: external.id, ...(collectionName && { collectionName }) };
      const { status, body } = await invoke(handler, { token, params });
      expect(status).toBe(200);
      return body.data as { readonly documents?: unknown; readonly items?: readonly { documents: unknown }[] };
    };
    const counts = async () =>
      (await read(listCollections)).items?.flatMap(({ documents }) => (documents === null ? [] : [documents]));
    await expect.poll(async () => (await counts())?.length).toBe(5);
    await own.proxy.refuse();
    try {
      expect(await counts()).toEqual([expect.any(Number)]);
      expect((await read(getCollection, 'notes')).documents).toBeNull();
    } finally {
      await own.proxy.heal();
    }
    await expect.poll(async () => (await counts())?.length).toBe(5);
  });

  test('also when its URI cannot be opened', async () => {
    const project = await newProject([{ name: 'notes' }]);
    const placement = { kind: 'external', encryptedUri: 'AAAA', host: 'db.example.com' };
    await onControl((db) =>
      db.collection('projects').updateOne({ _id: new ObjectId(project.id) }, { $set: { placement } }),
    );
    forgetProjects();
    expect(await ask(project, listDocuments)).toMatchObject({
      status: 503,
      body: { code: 'OWN_DATABASE_UNAVAILABLE' },
    });
  });
});

test('a project’s own database stays unchanged when the project is deleted', async () => {
  const project = await newProject([{ name: 'notes' }]);
  await connect(project, 'left');
  await ask(project, createDocument, { body: { text: 'stays' } });
  expect((await project.developer.dashboard('DELETE', `/api/projects/${project.id}`)).status).toBe(202);
  advance(13 * 60_000);
  await removeDeletedProjects();
  expect(await onControl((db) => db.collection('projects').countDocuments({ _id: new ObjectId(project.id) }))).toBe(0);
  expect(await own.client.db('left').collection('notes').countDocuments()).toBe(1);
});
