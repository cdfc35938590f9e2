import { beforeAll, describe, expect, test } from 'vitest';
import { onProject } from '../../../../shared/persistence/mongo.ts';
import { databaseUsed } from '../../../../shared/projects/database-quota.ts';
import { runTransfer } from '../../../../shared/transfers/run-transfer.ts';
import { transferRecords } from '../../../../shared/transfers/transfer.ts';
import { inParallel, tally } from '../../../support/clients/client.ts';
import { eventually } from '../../../support/clients/eventually.ts';
import { everyType, notes, people } from '../../../support/fixtures/collections.ts';
import { newDeveloper, newProject } from '../../../support/fixtures/project.ts';
import { domainProject } from '../../../support/fixtures/stored-users.ts';
import {
  openTransfers,
  type Transfer,
  type TransferBody,
  type TransferRequests,
} from '../../../support/fixtures/transfer-requests.ts';
import { heldImport, recordOf } from '../../../support/fixtures/transfers.ts';
import { stored } from '../../../support/fixtures/trash.ts';

let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers([notes]);
});

describe('an import', () => {
  const lines = (...values: readonly unknown[]) =>
    values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n');

  test('200 for NDJSON: lines are validated, completed and typed as in inserts', async () => {
    const collection = await at.newCollection(everyType.schema);
    const done = await at.imported(collection, {
      format: 'ndjson',
      content: lines({ title: 'one', publishedAt: '2026-01-02' }, '', { title: 'two', _id: 'x', isDeleted: true }),
    });
    expect(done).toMatchObject({ state: 'done', inserted: 2, rejected: 0, errors: [] });
    const list = await at.project.api<{ data: { items: unknown[] } }>('GET', `/api/data/${collection}?sort=_id`);
    expect(list.body.data.items).toMatchObject([
      { title: 'one', views: 0, publishedAt: '2026-01-02T00:00:00.000Z', isDeleted: false },
      { title: 'two', isDeleted: false, deletedAt: null },
    ]);
  });

  test('200 with the errors by line, and every other line stored', async () => {
    const collection = await at.newCollection(everyType.schema);
    await at.project.api('POST', `/api/data/${collection}`, { body: { title: 'first', slug: 'taken' } });
    const done = await at.imported(collection, {
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
      { line: 4, field: '', message: expect.stringContaining('The line must be a JSON object. NDJSON has') },
      { line: 5, field: 'slug', message: 'slug already exists' },
      { line: 7, field: 'slug', message: 'slug already exists' },
      { line: 8, field: '', message: 'A field may not be named __proto__.' },
      { line: 9, field: 'a.b', message: 'contains a dot, which separates the names of a path' },
    ]);
    expect(await stored(at.domain, collection)).toBe(4);
  });

  test('200 for thousands of lines; the report has the first hundred errors', async () => {
    const collection = await at.newCollection(people.schema);
    const content = Array.from({ length: 6000 }, (_, n) =>
      n % 20 === 0 ? '{}' : JSON.stringify({ name: `n${n}` }),
    ).join('\n');
    const done = await at.imported(collection, { format: 'ndjson', content });
    expect(done).toMatchObject({ state: 'done', inserted: 5700, rejected: 300 });
    expect(done.errors.map(({ line }) => line)).toEqual(Array.from({ length: 100 }, (_, n) => n * 20 + 1));
    expect(await stored(at.domain, collection)).toBe(5700);
  });

  test('200 for a file that is uploaded to a signed URL and then started, only once', async () => {
    const collection = await at.newCollection();
    const content = Buffer.from(
      Array.from({ length: 20_000 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(60) })).join('\n'),
    );
    expect(content.length).toBeGreaterThan(1024 * 1024);
    const answer = await at.dashboard('POST', collection, 'imports', {
      format: 'ndjson',
      upload: true,
      size: content.length,
    });
    expect(answer).toMatchObject({ status: 201, body: { data: { state: 'awaiting' } } });
    const { _id, signedUrl, contentType } = answer.body.data;
    const start = () => at.dashboard('POST', collection, `imports/${_id}/start`);
    expect(await start()).toMatchObject({ status: 409, body: { code: 'UPLOAD_NOT_READY' } });
    const put = (body: Buffer) =>
      fetch(signedUrl ?? '', { method: 'PUT', body: new Uint8Array(body), headers: { 'content-type': contentType } });
    expect((await put(content.subarray(1))).status).toBe(403);
    expect((await put(content)).status).toBe(200);
    expect(tally(await inParallel(20, start))).toEqual({ 200: 20 });
    expect(await at.ended(collection, 'imports', _id)).toMatchObject({ state: 'done', inserted: 20_000 });
    expect(await stored(at.domain, collection)).toBe(20_000);
    expect(await start()).toMatchObject({ status: 200, body: { data: { state: 'done' } } });
  });

  test('200: repeated, parallel and interrupted runs store each line once', async () => {
    const collection = await at.newCollection([{ key: 'slug', type: 'String', unique: true }]);
    const content = Array.from({ length: 3000 }, (_, n) => JSON.stringify({ slug: `s${n}` })).join('\n');
    const held = await heldImport(at.project.id, collection, content);
    const id = held._id.toHexString();
    for (let runs = 0; (await recordOf(held)).state !== 'done'; runs++) {
      expect(runs).toBeLessThan(40);
      await inParallel(10, () => runTransfer(id, 1));
    }
    expect(await recordOf(held)).toMatchObject({ inserted: 3000, rejected: 0, line: 3000 });
    const again = {
      $set: { state: 'queued', active: true, leasedUntil: new Date(0), line: 1000, inserted: 1000 },
      // The format that the first version of imports stored.
      $unset: { bytes: '', notedAt: '' },
    } as const;
    await transferRecords.updateOne({ _id: held._id }, again);
    await runTransfer(id);
    expect(await recordOf(held)).toMatchObject({ state: 'done', inserted: 3000, rejected: 0 });
    expect(await stored(at.domain, collection)).toBe(3000);
  });

  test('failed when the database is full, with the counts of lines stored and rejected until then', async () => {
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
    const good = Array.from({ length: 9 }, () => JSON.stringify({ text: 'y'.repeat(100_000) }));
    const content = ['{broken', ...good, '[1]'].join('\n');
    const at = `/api/projects/${small.id}/collections/notes/imports`;
    const done: Transfer[] = [];
    for (let n = 0; n < 8 && !done.some(({ state }) => state === 'failed'); n++) {
      const { body } = await free.dashboard<TransferBody>('POST', at, { format: 'ndjson', content });
      done.push(
        await eventually(async () => {
          const { data } = (await free.dashboard<TransferBody>('GET', `${at}/${body.data._id}`)).body;
          expect(['done', 'failed']).toContain(data.state);
          return data;
        }),
      );
    }
    expect(done.at(-1)).toMatchObject({
      state: 'failed',
      inserted: 0,
      rejected: 2,
      errors: [
        { line: 1, field: '', message: 'The line is not valid JSON.' },
        { line: 11, field: '', message: expect.stringContaining('The line must be a JSON object.') },
      ],
      failure: expect.stringContaining('full') as unknown,
    });
  });

  test.each<[string, unknown]>([
    ['no format', { content: '{}' }],
    ['another format', { format: 'json', content: '{}' }],
    ['neither content nor upload', { format: 'csv' }],
    ['both', { format: 'csv', content: 'a', upload: true, size: 1 }],
    ['upload without a size', { format: 'csv', upload: true }],
    ['a size that is too large', { format: 'csv', upload: true, size: 1024 ** 3 + 1 }],
    ['a rule for taken ids without ids', { format: 'csv', content: 'a', onConflict: 'skip' }],
    ['another rule', { format: 'csv', content: 'a', keepIds: true, onConflict: 'merge' }],
    ['a size of nothing', { format: 'csv', upload: true, size: 0 }],
    ['content that is an object', { format: 'ndjson', content: { a: 1 } }],
    ['an unknown field', { format: 'csv', content: 'a', path: 'x' }],
    ['a list', []],
  ])('400 for %s', async (_what, body) => {
    expect((await at.dashboard('POST', 'notes', 'imports', body)).status).toBe(400);
  });
});
