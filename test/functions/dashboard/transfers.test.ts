import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { onControl, onProject } from '../../../shared/clients/mongo.ts';
import { clock } from '../../../shared/clock.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { databaseUsed } from '../../../shared/quota/database-quota.ts';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';
import { tendTransfers } from '../../../shared/transfers/tend-transfers.ts';
import { onTransfers } from '../../../shared/transfers/transfer-record.ts';
import { call, inParallel, tally } from '../../support/client.ts';
import { everyType, notes, people } from '../../support/collections.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/project.ts';
import { stillQueue } from '../../support/still-queue.ts';
import { domainProject } from '../../support/stored-users.ts';
import { abandon, heldExport, heldImport, recordOf } from '../../support/transfers.ts';
import { stored } from '../../support/trash.ts';

interface Transfer {
  readonly _id: string;
  readonly state: string;
  readonly failure: string | null;
  readonly count: number;
  readonly bytes: number;
  readonly url: string | null;
  readonly signedUrl: string | null;
  readonly contentType: string;
  readonly inserted: number;
  readonly rejected: number;
  readonly errors: readonly { readonly line: number; readonly field: string; readonly message: string }[];
}

interface TransferBody {
  readonly data: Transfer;
}

const missing = 'f'.repeat(24);
let project: TestProject;
let domain: Project;
let made = 0;

beforeAll(async () => {
  // Runs that end early in this process queue the next one where nobody takes it.
  process.env.WORK_QUEUE_URL = await stillQueue(process.env.AWS_ENDPOINT_URL ?? '');
  project = await newProject([everyType, people, notes]);
  domain = await domainProject(project);
});

const newCollection = async (schema: typeof everyType.schema = null): Promise<string> => {
  const name = `c${++made}`;
  await project.addCollection({ name, schema });
  return name;
};

const path = (collection: string, rest: string) => `/api/projects/${project.id}/collections/${collection}/${rest}`;
const dashboard = (method: string, collection: string, rest: string, body?: unknown) =>
  project.developer.dashboard<TransferBody>(method, path(collection, rest), body);

/** How a transfer ends. */
const ended = (collection: string, kind: 'exports' | 'imports', id: string): Promise<Transfer> =>
  vi.waitFor(
    async () => {
      const { status, body } = await dashboard('GET', collection, `${kind}/${id}`);
      expect(status).toBe(200);
      expect(['done', 'failed']).toContain(body.data.state);
      return body.data;
    },
    { timeout: 20_000, interval: 50 },
  );

const exported = async (collection: string, body: unknown): Promise<Transfer> => {
  const answer = await dashboard('POST', collection, 'exports', body);
  expect(answer).toMatchObject({ status: 201, body: { success: true, data: { state: 'queued', url: null } } });
  return ended(collection, 'exports', answer.body.data._id);
};

const imported = async (collection: string, body: unknown): Promise<Transfer> => {
  const answer = await dashboard('POST', collection, 'imports', body);
  expect(answer).toMatchObject({ status: 201, body: { success: true, data: { signedUrl: null } } });
  return ended(collection, 'imports', answer.body.data._id);
};

const download = async (url: string | null): Promise<{ readonly text: string; readonly headers: Headers }> => {
  const response = await fetch(url ?? '');
  expect(response.status).toBe(200);
  return { text: await response.text(), headers: response.headers };
};

const fill = (collection: string, count: number, of: (n: number) => object = () => ({})): Promise<unknown> =>
  onProject(
    domain,
    (db) =>
      db
        .collection(collection)
        .insertMany(Array.from({ length: count }, (_, n) => ({ n, ...of(n), isDeleted: false, deletedAt: null }))),
    30_000,
  );

describe('an export', () => {
  test('200 as NDJSON: each active document on its line, as the data API gives it', async () => {
    const author = (await project.api<{ _id: string }>('POST', '/api/data/people', { body: { name: 'Ada' } })).body._id;
    const body = { title: 'Ünïcode', publishedAt: '2026-01-02', author, tags: ['a', 'b'] };
    const posts: unknown[] = [];
    for (const title of ['one', 'two', body.title]) {
      posts.push((await project.api('POST', '/api/data/posts', { body: { ...body, title } })).body);
    }
    const trashed = await project.api<{ _id: string }>('POST', '/api/data/posts', { body });
    await project.api('DELETE', `/api/data/posts/${trashed.body._id}`);
    const done = await exported('posts', { format: 'ndjson' });
    expect(done).toMatchObject({ state: 'done', count: 3, failure: null });
    const { text, headers } = await download(done.url);
    expect(text.split('\n').map((line) => (line === '' ? line : JSON.parse(line)))).toEqual([...posts, '']);
    expect(Buffer.byteLength(text)).toBe(done.bytes);
    expect(headers.get('content-disposition')).toBe('attachment; filename="posts.ndjson"');
  });

  test.each([
    ['ndjson', 0, ''],
    ['json', 0, '[\n]\n'],
  ])('200 for an empty collection as %s', async (format, count, content) => {
    const done = await exported(await newCollection(), { format });
    expect(done).toMatchObject({ state: 'done', count });
    expect((await download(done.url)).text).toBe(content);
  });

  test('200 as JSON, trashed documents too where they are asked for', async () => {
    const collection = await newCollection();
    await fill(collection, 1200);
    await onProject(domain, (db) =>
      db.collection(collection).updateMany({ n: { $lt: 200 } }, { $set: { isDeleted: true, deletedAt: new Date() } }),
    );
    const [active, all] = [
      await exported(collection, { format: 'json' }),
      await exported(collection, { format: 'json', includeDeleted: true }),
    ];
    expect([active.count, all.count]).toEqual([1000, 1200]);
    const documents = JSON.parse((await download(all.url)).text) as { n: number }[];
    expect(documents.map(({ n }) => n)).toEqual(Array.from({ length: 1200 }, (_, n) => n));
    expect(JSON.parse((await download(active.url)).text)).toHaveLength(1000);
  });

  test('200 of many parts: ids of every type, documents of megabytes, all of them once', async () => {
    const collection = await newCollection();
    await fill(collection, 60, (n) => ({
      text: 'é'.repeat(100_000),
      ...(n % 3 === 0 ? { _id: `id-${n}` } : {}),
      ...(n % 3 === 1 ? { _id: n } : {}),
    }));
    await fill(collection, 1, () => ({ text: '\u0001'.repeat(2_000_000) }));
    const done = await exported(collection, { format: 'json' });
    expect(done).toMatchObject({ state: 'done', count: 61 });
    expect(done.bytes).toBeGreaterThan(20_000_000);
    const documents = JSON.parse((await download(done.url)).text) as { n: number; text: string }[];
    expect(new Set(documents.map(({ n, text }) => `${n} ${text.length}`)).size).toBe(61);
  });

  test('200 the same where it is cut short after each part and carried on', async () => {
    const collection = await newCollection();
    await fill(collection, 3000, (n) => ({ text: `${n}`.padStart(6000, 'x') }));
    const held = await heldExport(project.id, collection);
    const counts: number[] = [];
    for (let state = ''; state !== 'done'; ) {
      await runTransfer(held._id.toHexString(), 1);
      const record = await recordOf(held);
      if (record.kind === 'export') counts.push(record.count);
      state = record.state;
    }
    expect(counts.length).toBeGreaterThan(3);
    expect(new Set(counts.slice(0, -1)).size).toBe(counts.length - 1);
    const { body } = await dashboard('GET', collection, `exports/${held._id.toHexString()}`);
    const lines = (await download(body.data.url)).text.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual(
      Array.from({ length: 3000 }, (_, n) => n),
    );
  });

  test.each([
    ['after a part that it had not written down yet', { count: 0, bytes: 0, last: null, written: false, parts: [] }],
    ['after the upload was complete', {}],
  ])('200 the same where a run died %s', async (_what, forgotten) => {
    const collection = await newCollection();
    await fill(collection, 2000, (n) => ({ text: `${n}`.padStart(6000, 'x') }));
    const held = await heldExport(project.id, collection);
    await runTransfer(held._id.toHexString(), Object.keys(forgotten).length > 0 ? 1 : undefined);
    await onTransfers((transfers) => transfers.updateOne({ _id: held._id }, { $set: forgotten }));
    await abandon(held);
    await runTransfer(held._id.toHexString());
    expect(await recordOf(held)).toMatchObject({ state: 'done', count: 2000 });
    const { body } = await dashboard('GET', collection, `exports/${held._id.toHexString()}`);
    const { text } = await download(body.data.url);
    expect(text.trimEnd().split('\n')).toHaveLength(2000);
    expect(Buffer.byteLength(text)).toBe(body.data.bytes);
  });

  test('200 exactly one file of 20 runs at once', async () => {
    const collection = await newCollection();
    await fill(collection, 500);
    const held = await heldExport(project.id, collection);
    await inParallel(20, () => runTransfer(held._id.toHexString()));
    expect(await recordOf(held)).toMatchObject({ state: 'done', count: 500, tries: 0 });
  });

  test('409 TRANSFER_RUNNING for all but one of 50 at once', async () => {
    const collection = await newCollection();
    await heldExport(project.id, collection);
    const answers = await inParallel(10, () => dashboard('POST', collection, 'exports', { format: 'json' }));
    expect(tally(answers)).toEqual({ 409: 10 });
    expect(answers[0]?.body).toMatchObject({ code: 'TRANSFER_RUNNING' });
    await onTransfers((transfers) => transfers.updateMany({ collectionName: collection }, { $unset: { active: '' } }));
    const { 201: accepted = 0, ...others } = tally(
      await inParallel(50, () => dashboard('POST', collection, 'exports', { format: 'json' })),
    );
    expect(accepted).toBeGreaterThanOrEqual(1);
    expect(Object.keys(others)).toEqual(['409']);
  });

  test('403 for who has no link, whatever the address says', async () => {
    const done = await exported('posts', { format: 'json' });
    const { origin, pathname } = new URL(done.url ?? '');
    expect((await fetch(origin + pathname)).status).toBe(403);
    const other = new URL(done.url ?? '');
    other.pathname = pathname.replace('exports', 'imports');
    expect((await fetch(other)).status).toBe(403);
    expect(
      (await fetch(`${inject('stack').env.FILES_URL}/../exports${pathname.split('exports')[1]}`)).status,
    ).toBeGreaterThanOrEqual(400);
  });

  test('failed where the collection is deleted before its turn', async () => {
    const collection = await newCollection();
    const held = await heldExport(project.id, collection);
    await project.developer.dashboard('DELETE', `/api/projects/${project.id}/collections/${collection}`);
    await runTransfer(held._id.toHexString());
    expect(await recordOf(held)).toMatchObject({ state: 'failed' });
  });
});

describe('an import', () => {
  const lines = (...values: readonly unknown[]) =>
    values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n');

  test('200 of NDJSON: validated, completed and typed as inserts are', async () => {
    const collection = await newCollection(everyType.schema);
    const done = await imported(collection, {
      format: 'ndjson',
      content: lines({ title: 'one', publishedAt: '2026-01-02' }, '', { title: 'two', _id: 'x', isDeleted: true }),
    });
    expect(done).toMatchObject({ state: 'done', inserted: 2, rejected: 0, errors: [] });
    const list = await project.api<{ data: { items: unknown[] } }>('GET', `/api/data/${collection}?sort=_id`);
    expect(list.body.data.items).toMatchObject([
      { title: 'one', views: 0, publishedAt: '2026-01-02T00:00:00.000Z', isDeleted: false },
      { title: 'two', isDeleted: false, deletedAt: null },
    ]);
  });

  test('200 with what was wrong, line by line, and every other line stored', async () => {
    const collection = await newCollection(everyType.schema);
    await project.api('POST', `/api/data/${collection}`, { body: { title: 'first', slug: 'taken' } });
    const done = await imported(collection, {
      format: 'ndjson',
      content: lines(
        { title: 'good' },
        { views: 'many' },
        '{broken',
        [1],
        { title: 'b', slug: 'taken' },
        { title: 'c', slug: 'twice' },
        { title: 'd', slug: 'twice' },
        '{"title":"e","__proto__":{}}',
        { title: 'f', 'a.b': 1 },
        { title: 'last' },
      ),
    });
    expect(done).toMatchObject({ state: 'done', inserted: 3, rejected: 7 });
    expect(done.errors).toEqual([
      { line: 2, field: 'title', message: 'title is required' },
      { line: 2, field: 'views', message: 'views must be a Number' },
      { line: 3, field: '', message: 'The line is not valid JSON.' },
      { line: 4, field: '', message: 'The line must be a JSON object.' },
      { line: 5, field: 'slug', message: 'slug already exists' },
      { line: 7, field: 'slug', message: 'slug already exists' },
      { line: 8, field: '', message: 'A field may not be named __proto__.' },
      { line: 9, field: 'a.b', message: 'contains a dot, which separates the names of a path' },
    ]);
    expect(await stored(domain, collection)).toBe(4);
  });

  test('200 of CSV: cells by the types of the schema, quotes, dotted columns, empty cells left out', async () => {
    const collection = await newCollection(everyType.schema);
    const done = await imported(collection, {
      format: 'csv',
      content: [
        '\ufefftitle,views,published,publishedAt,tags,meta.source,meta.score,extra',
        '"a ""quoted"", title",7,TRUE,2026-01-02,"[""x"",""y""]",web,1.5,007',
        '"two',
        'lines",,,,,,,',
        'c,many,maybe,2026-02-30,x,,1,',
        'd,1',
        'e,2,false,,,,,',
      ].join('\r\n'),
    });
    expect(done).toMatchObject({ state: 'done', inserted: 3, rejected: 2 });
    expect(done.errors).toEqual([
      { line: 5, field: 'views', message: 'views must be a Number' },
      { line: 5, field: 'published', message: 'published must be a Boolean' },
      { line: 5, field: 'publishedAt', message: 'publishedAt must be a Date' },
      { line: 5, field: 'meta.source', message: 'meta.source is required' },
      { line: 5, field: 'tags', message: 'tags must be an Array' },
      { line: 6, field: '', message: 'The row has 2 values; the first line names 8 columns.' },
    ]);
    const list = await project.api<{ data: { items: Record<string, unknown>[] } }>(
      'GET',
      `/api/data/${collection}?sort=_id`,
    );
    expect(list.body.data.items).toMatchObject([
      {
        title: 'a "quoted", title',
        views: 7,
        published: true,
        publishedAt: '2026-01-02T00:00:00.000Z',
        tags: ['x', 'y'],
        meta: { source: 'web', score: 1.5 },
        extra: '007',
      },
      { title: 'two\r\nlines', views: 0 },
      { title: 'e', views: 2, published: false },
    ]);
    expect(list.body.data.items[1]).not.toHaveProperty('meta');
  });

  test.each([
    ['a quote that is never closed', 'a,b\n1,"2\n3,4', /not valid CSV/],
    ['a column without a name', 'a,,c\n1,2,3', /name every column/],
    ['a column twice', 'a,a\n1,2', /comes twice/],
    ['a column inside another', 'a,a.b\n1,2', /inside another/],
    ['a column named __proto__', 'a,__proto__.b\n1,2', /may not be named/],
  ])('failed for CSV with %s', async (_what, content, failure) => {
    const collection = await newCollection();
    const done = await imported(collection, { format: 'csv', content });
    expect(done).toMatchObject({ state: 'failed', failure: expect.stringMatching(failure) as unknown });
  });

  test('200 of thousands of lines; the report has the first hundred failures', async () => {
    const collection = await newCollection(people.schema);
    const content = Array.from({ length: 6000 }, (_, n) =>
      n % 20 === 0 ? '{}' : JSON.stringify({ name: `n${n}` }),
    ).join('\n');
    const done = await imported(collection, { format: 'ndjson', content });
    expect(done).toMatchObject({ state: 'done', inserted: 5700, rejected: 300 });
    expect(done.errors.map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, n) => n * 20 + 1));
    expect(await stored(domain, collection)).toBe(5700);
  });

  test('200 of a file that is uploaded to a signed URL and then started, once', async () => {
    const collection = await newCollection();
    const content = Buffer.from(
      Array.from({ length: 20_000 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(60) })).join('\n'),
    );
    expect(content.length).toBeGreaterThan(1024 * 1024);
    const answer = await dashboard('POST', collection, 'imports', {
      format: 'ndjson',
      upload: true,
      size: content.length,
    });
    expect(answer).toMatchObject({ status: 201, body: { data: { state: 'awaiting' } } });
    const { _id, signedUrl, contentType } = answer.body.data;
    const start = () => dashboard('POST', collection, `imports/${_id}/start`);
    expect(await start()).toMatchObject({ status: 409, body: { code: 'UPLOAD_NOT_READY' } });
    const put = (body: Buffer) =>
      fetch(signedUrl ?? '', { method: 'PUT', body: new Uint8Array(body), headers: { 'content-type': contentType } });
    expect((await put(content.subarray(1))).status).toBe(403);
    expect((await put(content)).status).toBe(200);
    expect(tally(await inParallel(20, start))).toEqual({ 200: 20 });
    expect(await ended(collection, 'imports', _id)).toMatchObject({ state: 'done', inserted: 20_000 });
    expect(await stored(domain, collection)).toBe(20_000);
    expect(await start()).toMatchObject({ status: 200, body: { data: { state: 'done' } } });
  }, 60_000);

  test('200: run again and again, in parallel and after it was cut off, it stores each line once', async () => {
    const collection = await newCollection([{ key: 'slug', type: 'String', unique: true }]);
    const content = Array.from({ length: 3000 }, (_, n) => JSON.stringify({ slug: `s${n}` })).join('\n');
    const held = await heldImport(project.id, collection, content);
    const id = held._id.toHexString();
    for (let runs = 0; (await recordOf(held)).state !== 'done'; runs++) {
      expect(runs).toBeLessThan(20);
      await inParallel(10, () => runTransfer(id, 1));
    }
    expect(await recordOf(held)).toMatchObject({ inserted: 3000, rejected: 0, line: 3000 });
    const again = {
      $set: { state: 'queued', active: true, leasedUntil: new Date(0), line: 1000, inserted: 1000 },
    } as const;
    await onTransfers((transfers) => transfers.updateOne({ _id: held._id }, again));
    await runTransfer(id);
    expect(await recordOf(held)).toMatchObject({ state: 'done', inserted: 3000, rejected: 0 });
    expect(await stored(domain, collection)).toBe(3000);
  });

  test('failed where the database has no room for more, with what was stored until then', async () => {
    const free = await newDeveloper('free');
    const small = await newProject([notes], free);
    const smallDomain = await domainProject(small);
    const text = 'x'.repeat(1_000_000);
    await onProject(
      smallDomain,
      (db) => db.collection('notes').insertMany(Array.from({ length: 49 }, (_, n) => ({ n, text }))),
      30_000,
    );
    expect(await databaseUsed(smallDomain)).toBeGreaterThan(48_000_000);
    const content = Array.from({ length: 9 }, () => JSON.stringify({ text: 'y'.repeat(100_000) })).join('\n');
    const at = `/api/projects/${small.id}/collections/notes/imports`;
    const done: Transfer[] = [];
    for (let n = 0; n < 8 && !done.some(({ state }) => state === 'failed'); n++) {
      const { body } = await free.dashboard<TransferBody>('POST', at, { format: 'ndjson', content });
      done.push(
        await vi.waitFor(async () => {
          const { data } = (await free.dashboard<TransferBody>('GET', `${at}/${body.data._id}`)).body;
          expect(['done', 'failed']).toContain(data.state);
          return data;
        }, 15_000),
      );
    }
    expect(done.at(-1)).toMatchObject({
      state: 'failed',
      inserted: 0,
      failure: expect.stringContaining('full') as unknown,
    });
  }, 60_000);

  test.each<[string, unknown]>([
    ['no format', { content: '{}' }],
    ['another format', { format: 'json', content: '{}' }],
    ['neither content nor upload', { format: 'csv' }],
    ['both', { format: 'csv', content: 'a', upload: true, size: 1 }],
    ['upload without a size', { format: 'csv', upload: true }],
    ['a size that is too large', { format: 'csv', upload: true, size: 10 * 1024 * 1024 + 1 }],
    ['a size of nothing', { format: 'csv', upload: true, size: 0 }],
    ['content that is an object', { format: 'ndjson', content: { a: 1 } }],
    ['an unknown field', { format: 'csv', content: 'a', path: 'x' }],
    ['a list', []],
  ])('400 for %s', async (_what, body) => {
    expect((await dashboard('POST', 'notes', 'imports', body)).status).toBe(400);
  });
});

describe('what was lost', () => {
  test('is put on the queue again once it is due', async () => {
    const collection = await newCollection();
    await fill(collection, 3);
    const held = await heldExport(project.id, collection);
    // The schedule of the stack finds it.
    await onTransfers((transfers) => transfers.updateOne({ _id: held._id }, { $set: { dueAt: new Date(0) } }));
    await vi.waitFor(async () => expect(await recordOf(held)).toMatchObject({ state: 'done', count: 3 }), {
      timeout: 15_000,
    });
  });

  test('is removed after two days, file and all', async () => {
    const done = await exported('notes', { format: 'json' });
    await onTransfers((transfers) =>
      transfers.updateOne({ _id: new ObjectId(done._id) }, { $set: { expiresAt: new Date(clock.now()) } }),
    );
    expect(await dashboard('GET', 'notes', `exports/${done._id}`)).toMatchObject({ status: 404 });
    await tendTransfers();
    expect(await onTransfers((transfers) => transfers.countDocuments({ _id: new ObjectId(done._id) }))).toBe(0);
    expect((await fetch(done.url ?? '')).status).toBe(404);
  });

  test('fails for good after ten runs in vain', async () => {
    const held = await heldExport(project.id, await newCollection());
    await onTransfers((transfers) => transfers.updateOne({ _id: held._id }, { $set: { tries: 10 } }));
    await runTransfer(held._id.toHexString());
    expect(await recordOf(held)).toMatchObject({ state: 'failed' });
  });

  test('costs two indexed queries where there is nothing', async () => {
    const plans = await Promise.all(
      [{ active: true, dueAt: { $lte: new Date(0) } }, { expiresAt: { $lte: new Date(0) } }].map((filter) =>
        onControl((db) => db.collection('transfers').find(filter).explain('queryPlanner')),
      ),
    );
    expect(plans.map((plan) => /"indexName":"(\w+)"/.exec(JSON.stringify(plan))?.[1])).toEqual(['due', 'expired']);
  });
});

const routes = [
  ['POST', 'exports', { format: 'json' }],
  ['GET', `exports/${missing}`, undefined],
  ['POST', 'imports', { format: 'csv', content: 'a\n1' }],
  ['POST', `imports/${missing}/start`, undefined],
  ['GET', `imports/${missing}`, undefined],
] as const;

describe.each(routes)('%s …/%s', (method, rest, body) => {
  test('403 USERS_RESERVED for users', async () => {
    for (const collection of ['users', 'USERS']) {
      expect(await dashboard(method, collection, rest, body)).toMatchObject({
        status: 403,
        body: { code: 'USERS_RESERVED' },
      });
    }
  });

  test('404 for an unknown collection, and for the project of another developer', async () => {
    expect(await dashboard(method, 'nothing', rest, body)).toMatchObject({
      status: 404,
      body: { code: 'COLLECTION_NOT_FOUND' },
    });
    const stranger = await newDeveloper();
    expect(await stranger.dashboard(method, path('notes', rest), body)).toMatchObject({
      status: 404,
      body: { code: 'PROJECT_NOT_FOUND' },
    });
  });

  test('401 without a token', async () => {
    const answer = await call(
      inject('stack').dashboardUrl,
      method,
      path('notes', rest),
      body === undefined ? {} : { body },
    );
    expect(answer).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });
});

test('404 TRANSFER_NOT_FOUND for what is unknown, malformed, of another collection, kind or project', async () => {
  const { _id: exportId } = await exported('notes', { format: 'json' });
  const { _id: importId } = await imported('notes', { format: 'csv', content: 'a\n1' });
  const other = await newProject([notes], project.developer);
  const elsewhere = `/api/projects/${other.id}/collections/notes`;
  for (const answer of [
    await dashboard('GET', 'notes', `exports/${missing}`),
    await dashboard('GET', 'notes', 'exports/x'),
    await dashboard('GET', 'posts', `exports/${exportId}`),
    await dashboard('GET', 'notes', `imports/${exportId}`),
    await dashboard('GET', 'notes', `exports/${importId}`),
    await dashboard('POST', 'notes', `imports/${exportId}/start`),
    await project.developer.dashboard('GET', `${elsewhere}/exports/${exportId}`),
    await project.developer.dashboard('GET', `${elsewhere}/imports/${importId}`),
    await project.developer.dashboard('POST', `${elsewhere}/imports/${importId}/start`),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { code: 'TRANSFER_NOT_FOUND' } });
  }
});
