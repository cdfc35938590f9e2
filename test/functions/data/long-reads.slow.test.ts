import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { Collection, Db } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as aggregateDocuments } from '../../../functions/data/aggregate-documents.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as queryDocuments } from '../../../functions/data/query-documents.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { newId } from '../../../shared/core/ids.ts';
import { lockOf } from '../../../shared/documents/query/bounded-query.ts';
import { itemKey, partitionKey } from '../../../shared/persistence/item-keys.ts';
import { type Lock, withLock } from '../../../shared/persistence/lease.ts';
import { onManaged } from '../../../shared/persistence/mongo.ts';
import * as kinds from '../../../shared/persistence/table-keys.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

process.env.RATE_LIMIT = '0';

const now = clock.now;

afterEach(() => {
  clock.now = now;
});

const newTurns = (): Lock => ({
  key: itemKey(kinds.longReads, partitionKey('rate', { source: `test ${newId().toHexString()}` })),
  leaseMs: 60_000,
  patienceMs: 3000,
  refusal: (retryAfter) => new AppError('TOO_MANY_AGGREGATIONS', 'Others are at it.', { retryAfter }),
});

const refused = { code: 'TOO_MANY_AGGREGATIONS' };

/** Acquires the lock and keeps it until `end`; resolves when it is acquired. */
const hold = async (turns: Lock): Promise<{ readonly end: () => Promise<void> }> => {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = withLock(turns, () => {
    begun.resolve();
    return over.promise;
  });
  await Promise.race([begun.promise, held]);
  return {
    end: async () => {
      over.resolve();
      await held;
    },
  };
};

describe('work under an exclusive lock', () => {
  test('429 for some of 50 concurrent callers; one runs at a time, and the next one can run', async () => {
    const turns = newTurns();
    let [running, most, done] = [0, 0, 0];
    const work = async () => {
      running += 1;
      most = Math.max(most, running);
      for (let step = 0; step < 20; step++) await turn();
      running -= 1;
      done += 1;
    };
    const ended = await Promise.allSettled(Array.from({ length: 50 }, () => withLock(turns, work)));
    expect(most).toBe(1);
    const failures = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(done + failures.length).toBe(50);
    expect(done).toBeGreaterThanOrEqual(1);
    for (const failure of failures) expect(failure).toMatchObject(refused);
    const next = await hold(turns);
    await next.end();
  });

  test('429 with the longest time that a killed run keeps the lock; then another run has it, which the first cannot end', async () => {
    const turns = newTurns();
    const killed = await hold(turns);
    const failure = await withLock(turns, async () => undefined).catch((error: unknown) => error);
    expect(failure).toMatchObject(refused);
    const { retryAfter = 0 } = failure as AppError;
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(60);
    clock.now = () => now() + 60_001;
    const other = await hold(turns);
    await killed.end();
    await expect(withLock(turns, async () => undefined)).rejects.toMatchObject(refused);
    await other.end();
    expect(await withLock(turns, async () => 'mine')).toBe('mine');
  });

  test('releases the lock when the work fails', async () => {
    const turns = newTurns();
    const failing = withLock(turns, async () => {
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
    expect(await withLock(turns, async () => 'mine')).toBe('mine');
  });
});

describe('long reads of a project', () => {
  const range = { $range: [0, 10_000] };
  let project: TestProject;

  beforeAll(async () => {
    project = await newProject([{ name: 'posts' }]);
    await project.api('POST', '/api/data/posts', { body: { n: 1 } });
  });

  const aggregate = (pipeline: unknown) =>
    project.api<{ code?: string; message: string; data?: unknown }>('POST', '/api/data/posts/aggregate', {
      body: { pipeline },
    });

  test('429 with Retry-After for 17 more reads while one runs; another project can read', async () => {
    const [busy, quiet] = [lockOf(newId().toHexString(), 'query'), lockOf(newId().toHexString(), 'aggregation')];
    const held = await hold({ ...busy, leaseMs: 600_000 });
    const more = Promise.allSettled(
      Array.from({ length: 17 }, () => withLock({ ...busy, patienceMs: 0 }, async () => 'never')),
    );
    expect(await withLock(quiet, async () => 'theirs')).toBe('theirs');
    for (const one of await more) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'TOO_MANY_SLOW_QUERIES' } });
      const { retryAfter } = (one as PromiseRejectedResult).reason as AppError;
      expect(retryAfter).toBeGreaterThan(0);
    }
    await held.end();
    expect(await withLock(busy, async () => 'the next')).toBe('the next');
  });

  test('429 TOO_MANY_AGGREGATIONS with advice beyond one at a time; quick ones still run, and the next one succeeds', async () => {
    const many = ['a', 'b', 'c'].flatMap((name) => [{ $set: { [name]: range } }, { $unwind: `$${name}` }]);
    const endless = [...many, { $group: { _id: null, n: { $sum: '$c' } } }];
    const other = await hold({ ...lockOf(project.id, 'query'), leaseMs: 600_000 });
    // Time passes twenty times as fast for the waiting read.
    const begun = now();
    clock.now = () => now() + 20 * (now() - begun);
    const refused = invoke(aggregateDocuments, {
      key: project.secretKey,
      params: { collectionName: 'posts' },
      body: { pipeline: endless },
    });
    expect(await aggregate([{ $count: 'n' }])).toMatchObject({ status: 200, body: { data: [{ n: 1 }] } });
    const over = await refused;
    expect(over).toMatchObject({ status: 429, body: { code: 'TOO_MANY_AGGREGATIONS' } });
    clock.now = now;
    await other.end();
    expect(over.body.message).toContain('filter in a first $match');
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await aggregate(endless)).toMatchObject({ status: 400, body: { code: 'QUERY_TIMEOUT' } });
  });
});

/** A million steps for each document, between which the database checks the time limit. */
const slowPattern = 'a*a*[bc]';
const slowly = (text: string) => ({ where: { text: { $regex: text } } });

describe('reads that take long because of a caller’s conditions', () => {
  let project: TestProject;
  let other: TestProject;
  let token: string;

  const searchable = [{ key: 'text', type: 'String', searchable: true }];
  const collections = [
    { name: 'posts', schema: searchable, searchLanguage: 'none' },
    { name: 'diaries', schema: searchable, rls: { enabled: true, mode: 'private' } },
  ] as const;

  beforeAll(async () => {
    [project, other] = [await newProject(collections), await newProject(collections)];
    token = await project.tokenFor('a'.repeat(24));
    const stored = { text: `word ${'a'.repeat(200)}`, userId: 'a'.repeat(24), isDeleted: false, deletedAt: null };
    for (const name of ['posts', 'diaries']) {
      const texts = Array.from({ length: 8000 }, () => ({ ...stored }));
      await onManaged(project, (db) => db.collection(name).insertMany(texts), 30_000);
    }
    await other.api('POST', '/api/data/posts', { body: { text: 'quick' } });
  });

  const query = (body: object, collectionName = 'posts', caller: object = { key: project.secretKey }) =>
    invoke(queryDocuments, { ...caller, params: { collectionName }, body });
  const list = (text: string) =>
    invoke(listDocuments, {
      key: project.secretKey,
      params: { collectionName: 'posts' },
      query: `text_regex=${encodeURIComponent(text)}`,
    });
  const user = () => ({ key: project.publishableKey, token });

  const readers: readonly (readonly [what: string, read: () => ReturnType<typeof query>])[] = [
    ['a list', () => list(slowPattern)],
    ['a query', () => query(slowly(slowPattern))],
    ['a page of a cursor', () => query({ ...slowly(slowPattern), cursor: '', sort: 'text' })],
    ['a count', () => query({ ...slowly(slowPattern), count: true })],
    ['a search', () => query({ ...slowly(slowPattern), search: 'word' })],
    ['a list of a private collection', () => query(slowly(slowPattern), 'diaries', user())],
    ['a count of a private collection', () => query({ ...slowly(slowPattern), count: true }, 'diaries', user())],
  ];

  test.each(readers)('429 TOO_MANY_SLOW_QUERIES for %s while another long read is running', async (_what, read) => {
    const held = await hold({ ...lockOf(project.id, 'aggregation'), leaseMs: 600_000 });
    const begun = now();
    clock.now = () => now() + 20 * (now() - begun);
    const { status, body, headers } = await read();
    clock.now = now;
    await held.end();
    expect({ status, code: body.code }).toEqual({ status: 429, code: 'TOO_MANY_SLOW_QUERIES' });
    expect(body.message).toContain('only one such read can run at a time');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('400 QUERY_TIMEOUT for a long read that has the lock', async () => {
    expect(await list(slowPattern)).toMatchObject({ status: 400, body: { code: 'QUERY_TIMEOUT' } });
  });

  test('400 QUERY_TIMEOUT when the database responds to pings but not to the read', async () => {
    const third = await newProject(collections);
    const { command } = Db.prototype;
    const silent = vi.spyOn(Db.prototype, 'command').mockImplementation(function (this: Db, sent, options) {
      return 'find' in sent ? new Promise<never>(() => undefined) : command.call(this, sent, options);
    });
    const { status, body } = await query({ sort: 'text' }, 'posts', { key: third.secretKey }).finally(() =>
      silent.mockRestore(),
    );
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'QUERY_TIMEOUT' });
  });

  test('a read of another project gets a connection while 30 long reads of one project run', async () => {
    const ended: string[] = [];
    const long = Array.from({ length: 30 }, (_, n) =>
      query(slowly(`a*a*[${n}b]`)).then(({ status, body }) => {
        ended.push('long');
        return [status, body.code];
      }),
    );
    for (let quick = 0; quick < 20; quick += 1) {
      expect((await query({}, 'posts', { key: other.secretKey })).status).toBe(200);
      ended.push('quick');
    }
    expect(ended.slice(0, 20)).not.toContain('long');
    for (const [status, code] of await Promise.all(long)) {
      expect(['400 QUERY_TIMEOUT', '429 TOO_MANY_SLOW_QUERIES']).toContain(`${status} ${code}`);
    }
  });
});

describe('reads that the database cannot end in time because one document takes seconds', () => {
  const costly = (n: number) => ({ text: { $regex: `a*a*[${n}b]` } });

  test('400 QUERY_TIMEOUT, 429 or 503 for each of 8 concurrent reads, and 200 for another project meanwhile', async () => {
    const [project, other] = [await newProject([{ name: 'posts' }]), await newProject([{ name: 'posts' }])];
    const text = Array.from({ length: 500 }, () => 'a'.repeat(299));
    const texts = Array.from({ length: 30 }, () => ({ text, isDeleted: false, deletedAt: null }));
    await onManaged(project, (db) => db.collection('posts').insertMany(texts), 30_000);
    const of = ({ secretKey }: TestProject, body: object) => ({
      key: secretKey,
      params: { collectionName: 'posts' },
      body,
    });
    const long = Array.from({ length: 8 }, (_, n) =>
      n % 2 === 0
        ? invoke(aggregateDocuments, of(project, { pipeline: [{ $skip: 1 }, { $match: costly(n) }] }))
        : invoke(queryDocuments, of(project, { where: costly(n), count: true })),
    );
    let left = long.length;
    for (const one of long) void one.finally(() => (left -= 1));
    while (left > 0) {
      expect(await invoke(queryDocuments, of(other, {}))).toMatchObject({ status: 200 });
      await pause(200);
    }
    for (const { status, body } of await Promise.all(long)) {
      const ends = ['400 QUERY_TIMEOUT', '429 TOO_MANY_SLOW_QUERIES', '429 TOO_MANY_AGGREGATIONS'];
      // The engine may be too busy with the other reads to answer a ping in time.
      ends.push('503 DATABASE_UNAVAILABLE');
      expect(ends).toContain(`${status} ${body.code}`);
    }
  });

  test('400 QUERY_TIMEOUT for a write when the database responds to pings but not to its condition', async () => {
    const project = await newProject([{ name: 'posts' }]);
    const { body } = await project.api<{ _id: string }>('POST', '/api/data/posts', { body: { text: 'aaa' } });
    const write = (pattern: string) =>
      invoke(updateDocument, {
        key: project.secretKey,
        method: 'PATCH',
        params: { collectionName: 'posts', id: body._id },
        query: `where=${encodeURIComponent(JSON.stringify({ text: { $regex: pattern } }))}`,
        body: { n: 1 },
      });
    const { findOne } = Collection.prototype;
    const silent = vi.spyOn(Collection.prototype, 'findOne').mockImplementation(function (
      this: Collection,
      filter = {},
      options = {},
    ) {
      return JSON.stringify(filter).includes('$nor')
        ? new Promise<never>(() => undefined)
        : findOne.call(this, filter, options);
    });
    const refused = await write('a*a*b').finally(() => silent.mockRestore());
    expect(refused).toMatchObject({ status: 400, body: { code: 'QUERY_TIMEOUT' } });
    const { body: kept } = await project.api('GET', `/api/data/posts/${body._id}`);
    expect(kept).not.toHaveProperty('n');
    expect(await write('a*b')).toMatchObject({ status: 412, body: { code: 'CONDITION_FAILED' } });
  });
});

describe('the files that send commands', () => {
  /** Other files that read a project’s database: by id, by an index scan, or for a write. */
  const others = [
    'access/bind.ts',
    'access/try-rules.ts',
    'effects/pending-mails.ts',
    'effects/queue-mails.ts',
    'effects/run-effects.ts',
    'effects/targets.ts',
    'effects/try-effects.ts',
    'files.ts',
    'query/bounded-query.ts',
    'query/get-document.ts',
    'store/batch-check.ts',
    'store/batch-writes.ts',
    'store/cascade-writes.ts',
    'store/cascade.ts',
    'store/change-document.ts',
    'store/effect-writes.ts',
    'store/empty-trash.ts',
    'store/feed.ts',
    'store/insert.ts',
    'store/jointly.ts',
    'store/preview-write.ts',
    'store/purge.ts',
    'store/removal.ts',
    'store/stored-earlier.ts',
    'store/taken-values.ts',
    'store/timed-effect.ts',
    'store/tombstones.ts',
    'store/trash.ts',
    'store/upsert.ts',
    'store/write-fields.ts',
  ];

  test('no other file of shared/documents accesses a database without the lock', () => {
    const root = path.resolve(import.meta.dirname, '../../../shared/documents');
    const reaching = globSync('**/*.ts', { cwd: root }).filter((file) =>
      /\bon(?:Project|Managed|Collection)\b/.test(readFileSync(path.join(root, file), 'utf8')),
    );
    expect(reaching.sort()).toEqual(others);
  });
});
