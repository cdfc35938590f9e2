import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { onProject } from '../../../../shared/persistence/mongo.ts';
import { runTransfer } from '../../../../shared/transfers/run-transfer.ts';
import { transferRecords } from '../../../../shared/transfers/transfer.ts';
import { openTransfers, type TransferRequests } from '../../../support/fixtures/transfer-requests.ts';
import { heldImport, idOf, recordOf } from '../../../support/fixtures/transfers.ts';

let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers();
});

const newIds = (count: number): string[] => Array.from({ length: count }, () => new ObjectId().toHexString());
const lines = (values: readonly object[]): string => values.map((value) => JSON.stringify(value)).join('\n');

interface Found {
  readonly _id: string;
  readonly name?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const add = async (collection: string, name: string): Promise<Found> =>
  (await at.project.api<Found>('POST', `/api/data/${collection}`, { body: { name } })).body;
const get = async (collection: string, id: string): Promise<Found> =>
  (await at.project.api<Found>('GET', `/api/data/${collection}/${id}`)).body;

const load = (collection: string, documents: readonly object[], more: object = {}) =>
  at.imported(collection, { format: 'ndjson', content: lines(documents), keepIds: true, ...more });

describe('an import with keepIds', () => {
  test.each(['ndjson', 'csv'])(
    '200: a line of %s keeps its own _id; a line without one gets a new _id',
    async (format) => {
      const collection = await at.newCollection();
      const [id = ''] = newIds(1);
      const content =
        format === 'csv'
          ? `_id,name\n${id.toUpperCase()},own\n,none`
          : lines([{ _id: id.toUpperCase(), name: 'own' }, { name: 'none' }]);
      const done = await at.imported(collection, { format, content, keepIds: true });
      expect(done).toMatchObject({
        state: 'done',
        inserted: 2,
        rejected: 0,
        keepIds: true,
        onConflict: null,
        skipped: 0,
      });
      expect(await get(collection, id)).toMatchObject({ _id: id, name: 'own' });
    },
  );

  test('200: an invalid or taken _id, in the collection or an earlier line, is an error of the line', async () => {
    const collection = await at.newCollection();
    const { _id: taken } = await add(collection, 'mine');
    const [id] = newIds(1);
    const done = await load(collection, [
      { _id: 'x', name: 'short' },
      { _id: 7, name: 'number' },
      { _id: null, name: 'null' },
      { _id: { $oid: id }, name: 'object' },
      { _id: taken, name: 'theirs' },
      { _id: id, name: 'first' },
      { _id: id, name: 'second' },
      { name: 'last' },
    ]);
    expect(done).toMatchObject({ state: 'done', inserted: 2, rejected: 6 });
    const malformed = { field: '_id', message: '_id must be 24 hexadecimal characters' };
    const exists = { field: '_id', message: '_id already exists' };
    expect(done.errors).toEqual([
      ...[1, 2, 3, 4].map((line) => ({ line, ...malformed })),
      { line: 5, ...exists },
      { line: 7, ...exists },
    ]);
    expect((await get(collection, taken)).name).toBe('mine');
    expect((await get(collection, id ?? '')).name).toBe('first');
  });

  test('200 with skip: lines with a taken _id are skipped and counted', async () => {
    const collection = await at.newCollection();
    const { _id: taken } = await add(collection, 'mine');
    const [id = ''] = newIds(1);
    const documents = [{ _id: taken, name: 'theirs' }, { _id: id, name: 'new' }, { _id: 'x' }];
    expect(await load(collection, documents, { onConflict: 'skip' })).toMatchObject({
      inserted: 1,
      rejected: 1,
      skipped: 1,
      onConflict: 'skip',
    });
    expect((await get(collection, taken)).name).toBe('mine');
    expect(await load(collection, documents, { onConflict: 'skip' })).toMatchObject({ inserted: 0, skipped: 2 });
  });

  test('200 with replace: the line replaces the document with its _id except its creation date; the last line wins', async () => {
    const collection = await at.newCollection([
      { key: 'name', type: 'String', required: true },
      { key: 'code', type: 'String', unique: true },
    ]);
    const mine = (await at.project.api<Found>('POST', `/api/data/${collection}`, { body: { name: 'mine', extra: 1 } }))
      .body;
    await at.project.api('POST', `/api/data/${collection}`, { body: { name: 'other', code: 'taken' } });
    const trashed = await add(collection, 'trashed');
    await at.project.api('DELETE', `/api/data/${collection}/${trashed._id}`);
    const [id = '', clash = ''] = newIds(2);
    const done = await load(
      collection,
      [
        { _id: mine._id, name: 'replaced', sum: '$name' },
        { _id: trashed._id, name: 'back' },
        { _id: id, name: 'new' },
        { _id: id, name: 'newer' },
        { _id: clash, name: 'clash', code: 'taken' },
        { _id: id },
      ],
      { onConflict: 'replace' },
    );
    expect(done).toMatchObject({ state: 'done', inserted: 4, rejected: 2, skipped: 0 });
    expect(done.errors).toEqual([
      { line: 5, field: 'code', message: 'code already exists' },
      { line: 6, field: 'name', message: 'name is required' },
    ]);
    const replaced = await get(collection, mine._id);
    expect(replaced).toMatchObject({ name: 'replaced', sum: '$name', createdAt: mine.createdAt });
    expect(replaced).not.toHaveProperty('extra');
    const etagOf = async (_id: string) =>
      (await at.project.api('GET', `/api/data/${collection}/${_id}`)).headers.get('etag');
    expect(await Promise.all([etagOf(mine._id), etagOf(id), etagOf(trashed._id)])).toEqual(['"2"', '"2"', '"3"']);
    expect(Date.parse(replaced.updatedAt)).toBeGreaterThan(Date.parse(mine.updatedAt));
    expect((await get(collection, trashed._id)).name).toBe('back');
    expect((await get(collection, id)).name).toBe('newer');
  });

  test('200 with replace: a line that would move a document to another partition is an error of the line', async () => {
    const collection = 'imported-partitions';
    const schema = ['room', 'name'].map((key) => ({ key, type: 'String' }));
    await at.project.addCollection({ name: collection, changes: true, schema, partition: 'room' });
    const insert = async (body: object): Promise<string> =>
      (await at.project.api<Found>('POST', `/api/data/${collection}`, { body })).body._id;
    const [moved, renamed] = [
      await insert({ room: 'hall', name: 'mine' }),
      await insert({ room: 'hall', name: 'old' }),
    ];
    const [id = ''] = newIds(1);
    const done = await load(
      collection,
      [
        { _id: moved, room: 'attic', name: 'theirs' },
        { _id: renamed, room: 'hall', name: 'new' },
        { _id: id, room: 'attic', name: 'first' },
        { _id: id, room: 'hall', name: 'second' },
        { name: 'nowhere' },
      ],
      { onConflict: 'replace' },
    );
    expect(done).toMatchObject({ state: 'done', inserted: 2, rejected: 3 });
    const moves = { field: 'room', message: 'room cannot change: the document has another room' };
    expect(done.errors).toEqual([
      { line: 1, ...moves },
      { line: 4, ...moves },
      { line: 5, field: 'room', message: 'room is required' },
    ]);
    expect(await get(collection, moved)).toMatchObject({ room: 'hall', name: 'mine' });
    expect(await get(collection, renamed)).toMatchObject({ room: 'hall', name: 'new' });
    expect(await get(collection, id)).toMatchObject({ room: 'attic', name: 'first' });
  });

  test('200 with revision and feed position for each line; replaced documents and tombstones get the next revision', async () => {
    const collection = 'imported-changes';
    await at.project.addCollection({ name: collection, changes: true });
    const { _id: mine } = await add(collection, 'mine');
    const { _id: gone } = await add(collection, 'gone');
    const api = <B>(method: string, rest: string) => at.project.api<B>(method, `/api/data/${collection}${rest}`);
    await api('DELETE', `/${gone}?permanent=true`);
    const { next } = (await api<{ data: { next: string } }>('GET', '/changes')).body.data;
    const [id] = newIds(1);
    const documents = [
      { _id: mine, name: 'replaced' },
      { _id: gone, name: 'back' },
      { _id: id, name: 'new' },
    ];
    expect(await load(collection, documents, { onConflict: 'replace' })).toMatchObject({ inserted: 3, rejected: 0 });
    const since = await api<{ data: { changes: object[] } }>('GET', `/changes?since=${next}`);
    expect(since.body.data.changes).toMatchObject([
      { _id: mine, rev: 2, document: { name: 'replaced' } },
      { _id: gone, rev: 3, document: { name: 'back', isDeleted: false } },
      { _id: id, rev: 1, document: { name: 'new' } },
    ]);
  });

  test.each(['private', 'public-read'] as const)(
    '200 with replace in a %s collection: a line for another owner’s document is an error of the line',
    async (mode) => {
      const collection = `owned-${mode}`;
      await at.project.addCollection({ name: collection, changes: true, rls: { enabled: true, mode } });
      const [ann, bob] = ['a'.repeat(24), 'b'.repeat(24)];
      const api = <B>(method: string, rest: string, body?: object) =>
        at.project.api<B>(method, `/api/data/${collection}${rest}`, { body });
      const owned = async (name: string, userId: string | null) =>
        (await api<Found>('POST', '', { name, userId })).body._id;
      const [kept, taken, left, claimed] = [
        await owned('kept', ann),
        await owned('taken', ann),
        await owned('left', ann),
        await owned('claimed', null),
      ];
      const gone = await owned('gone', ann);
      await api('DELETE', `/${gone}?permanent=true`);
      const { next } = (await api<{ data: { next: string } }>('GET', '/changes')).body.data;
      const [id] = newIds(1);
      const documents = [
        { _id: kept, name: 'kept still', userId: ann },
        { _id: taken, name: 'stolen', userId: bob },
        { _id: left, name: 'nobody’s' },
        { _id: claimed, name: 'claimed', userId: bob },
        { _id: gone, name: 'stolen', userId: bob },
        { _id: id, name: 'new', userId: bob },
      ];
      const done = await load(collection, documents, { onConflict: 'replace' });
      const message = 'userId cannot change: the document has another owner';
      expect(done).toMatchObject({ inserted: 3, rejected: 3 });
      expect(done.errors).toEqual([2, 3, 5].map((line) => ({ line, field: 'userId', message })));
      // A rejected line does not change the document’s feed position either.
      const since = await api<{ data: { changes: object[] } }>('GET', `/changes?since=${next}`);
      expect(since.body.data.changes).toMatchObject([
        { _id: kept, document: { name: 'kept still' } },
        { _id: claimed, document: { name: 'claimed', userId: bob } },
        { _id: id, document: { name: 'new' } },
      ]);
      expect(await get(collection, taken)).toMatchObject({ name: 'taken', userId: ann });
    },
  );

  test.each([undefined, 'skip', 'replace'] as const)(
    'a run that died after it stored a batch counts it as stored: onConflict %s',
    async (onConflict) => {
      const collection = await at.newCollection();
      const { _id: taken } = await add(collection, 'mine');
      const ids = newIds(300);
      const held = await heldImport(at.project.id, collection, lines([{ _id: taken }, ...ids.map((_id) => ({ _id }))]));
      const rule = { keepIds: true, ...(onConflict && { onConflict }) } as const;
      await transferRecords.updateOne({ _id: held._id }, { $set: rule });
      await runTransfer(idOf(held), 0);
      const after = await recordOf(held);
      expect(after).toMatchObject({ state: 'queued', line: 100 });
      // The next batch is stored, and its run dies before it reports that.
      const documents = ids.slice(99, 199).map((id) => ({ _id: new ObjectId(id), createdAt: new Date() }));
      await onProject(at.domain, (db) => db.collection(collection).insertMany(documents));
      await runTransfer(idOf(held));
      const isTaken = { inserted: 300, rejected: onConflict ? 0 : 1, skipped: onConflict === 'skip' ? 1 : 0 };
      expect(await recordOf(held)).toMatchObject({
        state: 'done',
        line: 301,
        ...(onConflict === 'replace' ? { inserted: 301, rejected: 0 } : isTaken),
      });
      expect(await onProject(at.domain, (db) => db.collection(collection).countDocuments())).toBe(301);
    },
  );

  test('its progress is reported in bytes of the file', async () => {
    const collection = await at.newCollection();
    const content = lines(Array.from({ length: 10 }, (_, n) => ({ n })));
    const done = await at.imported(collection, { format: 'ndjson', content });
    expect(done).toMatchObject({ size: content.length, bytes: content.length });
  });
});
