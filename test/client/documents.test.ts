import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type Basalt, basalt } from '../../client/src/index.ts';
import { HttpProxy } from '../support/faults/http-proxy.ts';
import type { UsersProject } from '../support/fixtures/users.ts';
import type { Schema } from './schema.ts';
import { asServer, newShop } from './shop.ts';

let project: UsersProject;
let app: Basalt<Schema>;

beforeAll(async () => {
  project = await newShop();
  app = asServer(project);
  await app.tasks.insertMany([
    { title: 'one', views: 1, tags: ['a'] },
    { title: 'two', views: 2, tags: ['a', 'b'] },
    { title: 'three', views: 3 },
  ]);
});

describe('collection', () => {
  test('inserts, reads, updates, deletes and recovers a document', async () => {
    const made = await app.notes.insert({ text: 'a', deep: { list: [1] } });
    expect(made).toMatchObject({ _id: expect.stringMatching(/^[0-9a-f]{24}$/), text: 'a', isDeleted: false });
    expect(await app.notes.get(made._id)).toEqual(made);
    expect(await app.notes.update(made._id, { 'deep.list.0': 2 })).toMatchObject({ text: 'a', deep: { list: [2] } });
    expect(await app.notes.delete(made._id)).toEqual({ id: made._id });
    await expect(app.notes.get(made._id)).rejects.toMatchObject({ code: 'DOCUMENT_NOT_FOUND' });
    expect(await app.notes.get(made._id, { include_deleted: true })).toMatchObject({ isDeleted: true });
    expect(await app.notes.recover(made._id)).toMatchObject({ isDeleted: false });
    await app.notes.delete(made._id, { permanent: true });
    await expect(app.notes.recover(made._id)).rejects.toMatchObject({ status: 404 });
  });

  test('inserts a document under an id from newId, which starts with the time, if the id is free', async () => {
    const ids = Array.from({ length: 1000 }, () => app.newId());
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{24}$/);
    const id = app.newId();
    expect(Math.abs(Number.parseInt(id.slice(0, 8), 16) - Date.now() / 1000)).toBeLessThan(5);
    expect(await app.notes.insert({ text: 'a' }, { id })).toMatchObject({ _id: id, text: 'a', _rev: 1 });
    await expect(app.notes.insert({ text: 'b' }, { id })).rejects.toMatchObject({
      status: 412,
      code: 'DOCUMENT_EXISTS',
    });
    expect(await app.notes.get(id)).toMatchObject({ text: 'a', _rev: 1 });
    await expect(app.notes.insert({}, { id: 'other' })).rejects.toMatchObject({ code: 'INVALID_ID' });
  });

  test('inserts or updates one or many documents by a unique value', async () => {
    await project.addCollection({
      name: 'notes_by_code',
      schema: [
        { key: 'code', type: 'String', unique: true },
        { key: 'text', type: 'String' },
        { key: 'part', type: 'Number' },
      ],
      unique: [['text', 'part']],
    });
    const notes = basalt(inject('stack').baseUrl, project.secretKey).collection('notes_by_code');
    const made = await notes.upsert({ code: 'a', text: 'one' }, { onConflict: 'code' });
    expect(made).toMatchObject({ code: 'a', text: 'one', _rev: 1 });
    const again = await notes.upsert({ code: 'a', part: 2 }, { onConflict: 'code' });
    expect(again).toMatchObject({ _id: made._id, text: 'one', part: 2, _rev: 2 });
    expect(await notes.upsert({ text: 'one', part: 2, more: 1 }, { onConflict: ['part', 'text'] })).toMatchObject({
      _id: made._id,
      _rev: 3,
    });
    const many = await notes.upsertMany([{ code: 'b' }, { code: 'a', text: 'two' }], { onConflict: 'code' });
    expect(many).toEqual({ ids: [expect.any(String), made._id], inserted: 1, updated: 1 });
    await expect(notes.upsert({ text: 'x' }, { onConflict: 'text' })).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  test('updates and deletes every matching document, past the limit of one request', async () => {
    for (let at = 0; at < 11; at += 1) {
      await app.notes.insertMany(Array.from({ length: 100 }, (_, n) => ({ many: 'all', n: at * 100 + n })));
    }
    const changed = await app.notes.updateMany({ many: 'all' }, { n: -1 });
    expect(changed).toEqual({ matched: 1100, changed: 1100, errors: [] });
    expect(await app.notes.count({ where: { many: 'all', n: -1 } })).toBe(1100);
    const deleted = await app.notes.deleteMany({ many: 'all', n: -1 }, { permanent: true });
    expect(deleted.changed).toBe(1100);
    expect(await app.notes.count({ where: { many: 'all' }, include_deleted: true })).toBe(0);
    await expect(app.notes.updateMany({}, { n: 1 })).rejects.toMatchObject({ code: 'INVALID_FILTER' });
  });

  test('updates, deletes and recovers a document only at the given revision', async () => {
    const { _id, _rev } = await app.notes.insert({ n: 1 });
    expect(_rev).toBe(1);
    const changed = await app.notes.update(_id, { n: 2 }, { rev: _rev });
    expect(changed._rev).toBe(2);
    expect((await app.notes.get(_id))._rev).toBe(2);
    const [item] = (await app.notes.list({ where: { _id }, meta: 'rev' })).items;
    expect(item?._rev).toBe(2);
    const passed = { status: 412, code: 'REVISION_MISMATCH' };
    await expect(app.notes.update(_id, { n: 3 }, { rev: 1 })).rejects.toMatchObject(passed);
    await expect(app.notes.delete(_id, { rev: 1 })).rejects.toMatchObject(passed);
    await app.notes.delete(_id, { rev: 2 });
    await expect(app.notes.recover(_id, { rev: 2 })).rejects.toMatchObject(passed);
    expect(await app.notes.recover(_id, { rev: 3 })).toMatchObject({ n: 2, _rev: 4 });
  });

  test('applies update operators and writes only if a condition holds', async () => {
    const { _id } = await app.notes.insert({ stock: 2, tags: ['a'] });
    const take = () => app.notes.update(_id, { $inc: { stock: -1 } }, { where: { stock: { $gte: 1 } } });
    expect(await take()).toMatchObject({ stock: 1, _rev: 2 });
    expect(await take()).toMatchObject({ stock: 0, _rev: 3 });
    const failed = { status: 412, code: 'CONDITION_FAILED', data: { _id, stock: 0 } };
    await expect(take()).rejects.toMatchObject(failed);
    await expect(app.notes.delete(_id, { where: { stock: 1 } })).rejects.toMatchObject(failed);
    expect(await app.notes.delete(_id, { where: { stock: 0 } })).toEqual({ id: _id });
    await expect(app.notes.recover(_id, { where: { stock: 1 } })).rejects.toMatchObject(failed);
    expect(await app.notes.recover(_id, { where: { stock: 0 } })).toMatchObject({ stock: 0 });
  });

  test('rejects an update with an undefined revision, for example from a list without revisions', async () => {
    const { _id } = await app.notes.insert({ n: 1 });
    const [item] = (await app.notes.list({ where: { _id } })).items;
    await expect(app.notes.update(_id, { n: 2 }, { rev: item?._rev })).rejects.toMatchObject({
      status: 400,
      code: 'VALIDATION_FAILED',
    });
    expect(await app.notes.get(_id)).toMatchObject({ n: 1, _rev: 1 });
  });

  test('lets one of 20 concurrent writers to a revision succeed when each loses a response', async () => {
    const proxy = await HttpProxy.start(inject('stack').baseUrl);
    const { _id, _rev } = await app.notes.insert({ n: 0 });
    const lost = new Set<unknown>();
    proxy.meet(({ headers }) => {
      const key = headers['idempotency-key'];
      if (lost.has(key)) return undefined;
      lost.add(key);
      return 'lose the answer';
    });
    const writers = Array.from({ length: 20 }, (_, n) =>
      asServer(project, proxy.url).notes.update(_id, { n }, { rev: _rev }),
    );
    const outcomes = await Promise.allSettled(writers);
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(won).toHaveLength(1);
    expect(await app.notes.get(_id)).toEqual({ ...won[0], _rev: 2 });
    await proxy.close();
  });

  test('lists the matching documents, sorted, with the selected fields', async () => {
    const wanted = { where: { $or: [{ views: { $gte: 3 } }, { tags: { $all: ['b'] } }] }, sort: '-views' } as const;
    const page = await app.tasks.list({ ...wanted, fields: ['title'], meta: false, limit: 10 });
    const [first, second] = page.items;
    expect(page).toMatchObject({ total: 2, limit: 10, page: 1 });
    expect([first, second]).toEqual([
      { _id: expect.any(String), title: 'three' },
      { _id: expect.any(String), title: 'two' },
    ]);
  });

  test('lists by a filter that is too long for a URL', async () => {
    const titles = ['two', ...Array.from({ length: 900 }, () => randomBytes(8).toString('hex'))];
    const page = await app.tasks.list({
      where: { title: { $in: titles } },
      sort: ['title', '-views'],
      fields: ['title'],
    });
    expect(page.items.map(({ title }) => title)).toEqual(['two']);
    expect(await app.tasks.count({ where: { title: { $in: titles } } })).toBe(1);
  });

  test('iterates over every document once, page by page', async () => {
    const titles: string[] = [];
    for await (const { title } of app.tasks.each({ limit: 2, sort: 'views' })) titles.push(title);
    expect(titles).toEqual(['one', 'two', 'three']);
    const cursors: (string | null | undefined)[] = [];
    for (let cursor: string | null | undefined = ''; typeof cursor === 'string'; ) {
      cursor = (await app.tasks.list({ cursor, limit: 2 })).nextCursor;
      cursors.push(cursor);
    }
    expect(cursors).toEqual([expect.any(String), null]);
  });

  test('iterates over every search result, newest first unless sorted', async () => {
    const title = { key: 'title', type: 'String', searchable: true };
    await project.addCollection({ name: 'songs', schema: [title, { key: 'plays', type: 'Number' }] });
    const songs = app.collection('songs' as 'notes');
    const inserted = ['sea one', 'the hills', 'sea two', 'sea three'].map((song, plays) => ({ title: song, plays }));
    await songs.insertMany(inserted);
    const found = async (sort?: 'plays' | readonly 'plays'[]) =>
      (await Array.fromAsync(songs.each({ search: 'sea', limit: 2, ...(sort && { sort }) }))).map(({ plays }) => plays);
    expect(await found()).toEqual([3, 2, 0]);
    expect(await found([])).toEqual([3, 2, 0]);
    expect(await found('plays')).toEqual([0, 2, 3]);
  });

  test('inserts no document when one is invalid, and names the invalid one', async () => {
    const wrong = app.tasks.insertMany([{ title: 'x' }, { title: 5 as unknown as string }]);
    await expect(wrong).rejects.toMatchObject({
      status: 400,
      code: 'VALIDATION_FAILED',
      requestId: expect.stringMatching(/./),
      errors: [{ index: 1, field: 'title', message: expect.stringContaining('String') }],
    });
    expect(await app.tasks.count()).toBe(3);
  });

  test('runs an aggregation', async () => {
    const rows = await app.tasks.aggregate<{ readonly views: number }>([
      { $group: { _id: null, views: { $sum: '$views' } } },
    ]);
    expect(rows).toEqual([{ _id: null, views: 6 }]);
  });

  test('is available under any name, also one with another meaning in the client', async () => {
    await project.addCollection({ name: 'mail' });
    const { mail } = asServer(project);
    expect(mail).toHaveProperty('send');
    const letters = asServer(project).collection('mail' as 'notes');
    expect(await letters.insert({ a: 1 })).toMatchObject({ a: 1 });
    await expect(
      asServer(project)
        .collection('../secret' as 'notes')
        .get('x'),
    ).rejects.toMatchObject({ status: 404 });
  });
});

test('app can be awaited and has no property for symbols', async () => {
  expect(await Promise.resolve(app)).toBe(app);
  expect(Reflect.get(app, Symbol.iterator)).toBeUndefined();
  expect(app.tasks).toBe(app.tasks);
});
