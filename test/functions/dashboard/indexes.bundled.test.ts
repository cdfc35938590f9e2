import { Collection } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createIndex, deleteIndex } from '../../../shared/collections/indexes/custom-indexes.ts';
import { updateCollection } from '../../../shared/collections/update-collection.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

interface IndexBody {
  readonly data: { readonly name: string; readonly keys: Readonly<Record<string, unknown>> };
  readonly code?: string;
}

let project: TestProject;
let made = 0;

beforeAll(async () => {
  project = await newProject();
});

const newCollection = async (schema: readonly Readonly<Record<string, unknown>>[] | null = null): Promise<string> => {
  const name = `c${++made}`;
  await project.addCollection({ name, schema });
  return name;
};

const path = (name: string) => `/api/projects/${project.id}/collections/${name}/indexes`;
const create = (name: string, body: unknown) => project.developer.dashboard<IndexBody>('POST', path(name), body);
const list = async (name: string, query = '') =>
  (await project.developer.dashboard<{ data: unknown }>('GET', path(name) + query)).body.data;
const remove = (name: string, index: string) => project.developer.dashboard('DELETE', `${path(name)}/${index}`);

describe('a custom index', () => {
  test.each([
    ['ascending and descending', { keys: { a: 1, 'b.c': -1 } }, 'a_1_b.c_-1'],
    ['2dsphere', { keys: { at: '2dsphere' } }, 'at_2dsphere'],
    ['text', { keys: { title: 'text', body: 'text' } }, 'title_text_body_text'],
    ['named', { keys: { a: 1 }, name: 'mine' }, 'mine'],
  ])('201 %s, listed, and dropped again', async (_what, body, name) => {
    const collection = await newCollection();
    const index = { name, keys: body.keys };
    expect(await create(collection, body)).toMatchObject({ status: 201, body: { data: index } });
    expect(await list(collection)).toEqual({ items: [index], total: 1, page: 1, limit: 100 });
    expect(await remove(collection, name)).toMatchObject({ status: 200, body: { data: { name } } });
    expect(await list(collection)).toMatchObject({ items: [], total: 0 });
    expect(await remove(collection, name)).toMatchObject({ status: 404, body: { code: 'INDEX_NOT_FOUND' } });
  });

  test('201 supports $geoNear and $text, and accepts documents in any language', async () => {
    const collection = await newCollection();
    await create(collection, { keys: { at: '2dsphere' } });
    await create(collection, { keys: { title: 'text' } });
    const body = { title: 'Basalt columns', language: 'klingon', at: { type: 'Point', coordinates: [13.4, 52.5] } };
    expect((await project.api('POST', `/api/data/${collection}`, { body })).status).toBe(201);
    for (const stage of [
      { $geoNear: { near: { type: 'Point', coordinates: [13.4, 52.5] }, distanceField: 'far' } },
      { $match: { $text: { $search: 'columns' } } },
    ]) {
      const answer = await project.api('POST', `/api/data/${collection}/aggregate`, { body: { pipeline: [stage] } });
      expect(answer).toMatchObject({ status: 200, body: { data: [{ title: body.title }] } });
    }
  });

  test.each<[string, unknown]>([
    ['no keys', {}],
    ['empty keys', { keys: {} }],
    ['keys that are a list', { keys: ['a'] }],
    ['another kind', { keys: { a: 'hashed' } }],
    ['a number that is not a direction', { keys: { a: 2 } }],
    ['an operator', { keys: { $a: 1 } }],
    ['_id', { keys: { _id: 1 } }],
    ['expireAfterSeconds', { keys: { a: 1 }, expireAfterSeconds: 60 }],
    ['unique', { keys: { a: 1 }, unique: true }],
    ['sparse', { keys: { a: 1 }, sparse: true }],
    ['partialFilterExpression', { keys: { a: 1 }, partialFilterExpression: {} }],
    ['a name that is an object', { keys: { a: 1 }, name: {} }],
    ['a name of the service’s own', { keys: { a: 1 }, name: 'basalt_trash' }],
  ])('400 for %s', async (_what, body) => {
    const collection = await newCollection();
    expect((await create(collection, body)).status).toBe(400);
    expect(await list(collection)).toMatchObject({ total: 0 });
  });

  test('400 INVALID_INDEX when documents cannot be indexed this way; nothing of it stays', async () => {
    const collection = await newCollection();
    await project.api('POST', `/api/data/${collection}`, { body: { at: 'here', p: [1], q: [1] } });
    for (const keys of [{ at: '2dsphere' }, { p: 1, q: 1 }]) {
      expect(await create(collection, { keys })).toMatchObject({ status: 400, body: { code: 'INVALID_INDEX' } });
    }
    expect(await list(collection)).toMatchObject({ total: 0 });
  });

  test.each([
    ['no GeoJSON', { at: 'here' }, 'GeoJSON'],
    ['arrays in two of its fields', { p: [1], q: [1] }, 'both contain an array'],
  ])('400 INVALID_UPDATE when it cannot hold a document: %s', async (_what, body, said) => {
    const collection = await newCollection();
    for (const keys of [{ at: '2dsphere' }, { p: 1, q: 1 }]) await create(collection, { keys });
    const { body: made } = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body: {} });
    const refused = { status: 400, body: { code: 'INVALID_UPDATE', message: expect.stringContaining(said) } };
    expect(await project.api('POST', `/api/data/${collection}`, { body })).toMatchObject(refused);
    expect(await project.api('POST', `/api/data/${collection}/bulk`, { body: [{}, body] })).toMatchObject(refused);
    expect(await project.api('PATCH', `/api/data/${collection}/${made._id}`, { body })).toMatchObject(refused);
    expect(await project.api('GET', `/api/data/${collection}?count=true`)).toMatchObject({
      body: { data: { count: 1 } },
    });
  });

  test('409 INDEX_EXISTS for its name, its keys, or a second text index', async () => {
    const collection = await newCollection();
    await create(collection, { keys: { a: 1 }, name: 'first' });
    await create(collection, { keys: { t: 'text' } });
    for (const body of [
      { keys: { b: 1 }, name: 'first' },
      { keys: { a: 1 }, name: 'second' },
      { keys: { u: 'text' } },
    ]) {
      expect(await create(collection, body)).toMatchObject({ status: 409, body: { code: 'INDEX_EXISTS' } });
    }
    expect(await list(collection)).toMatchObject({ total: 2 });
  });

  test('400 beyond 20 per collection: exactly 20 of 50 concurrent ones are built', async () => {
    const collection = await newCollection();
    const answers = await inParallel(50, (index) => create(collection, { keys: { [`f${index}`]: 1 } }));
    expect(tally(answers)).toEqual({ 201: 20, 400: 30 });
    expect(await list(collection, '?limit=5&page=4')).toMatchObject({ total: 20, page: 4, limit: 5 });
  });

  test('409: exactly one of 20 equal concurrent ones is built', async () => {
    const collection = await newCollection();
    const answers = await inParallel(20, () => create(collection, { keys: { a: 1 } }));
    expect(tally(answers)).toEqual({ 201: 1, 409: 19 });
  });

  test('404 for the service’s own index, and for a missing collection', async () => {
    const collection = await newCollection();
    expect(await remove(collection, 'basalt_trash')).toMatchObject({ status: 404, body: { code: 'INDEX_NOT_FOUND' } });
    expect(await remove(collection, '_id_')).toMatchObject({ status: 404 });
    expect(await create('nothing', { keys: { a: 1 } })).toMatchObject({
      status: 404,
      body: { code: 'COLLECTION_NOT_FOUND' },
    });
  });
});

describe('while the collection is edited', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const built = async (collection: string) => {
    const domain = await domainProject(project);
    const indexes = await onProject(domain, (db) => db.collection(collection).listIndexes().toArray());
    return indexes.map(({ name }) => String(name)).sort();
  };

  /** Edits the collection once, directly after the driver’s next call of this method. */
  const editAfter = async (method: 'createIndexes' | 'dropIndex', collection: string, changes: object) => {
    const domain = await domainProject(project);
    const original = Collection.prototype[method] as (...options: unknown[]) => Promise<never>;
    vi.spyOn(Collection.prototype, method).mockImplementationOnce(async function meanwhile(
      this: Collection,
      ...sent: unknown[]
    ) {
      const done = await original.apply(this, sent);
      await updateCollection(domain, collection, changes);
      return done;
    });
    return domain;
  };

  test('503 for an index built while its collection becomes private; the next one begins with the owner', async () => {
    const collection = await newCollection();
    const domain = await editAfter('createIndexes', collection, { rls: { enabled: true, mode: 'private' } });
    const create = () => createIndex(domain, collection, { keys: { a: 1 } });
    await expect(create()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfter: 1 });
    expect(await list(collection)).toMatchObject({ total: 0 });
    await create();
    expect(await built(collection)).toContain('basalt_owner_first_a_1');
    expect(await built(collection)).not.toContain('a_1');
  });

  test('200 when a private collection gets another owner field, which its indexes then begin with', async () => {
    const collection = await newCollection([{ key: 'next', type: 'Ref', ref: 'users' }]);
    await create(collection, { keys: { a: 1 } });
    const domain = await domainProject(project);
    for (const ownerField of ['by', 'author', 'by']) {
      await updateCollection(domain, collection, { rls: { enabled: true, mode: 'private', ownerField } });
      const indexes = await onProject(domain, (db) => db.collection(collection).listIndexes().toArray());
      const keys = Object.fromEntries(indexes.map(({ name, key }) => [name, key]));
      expect(keys).toMatchObject({
        basalt_owner_first_a_1: { [ownerField]: 1, a: 1 },
        basalt_owner_next: { [ownerField]: 1, next: 1, _id: 1 },
        [`basalt_read_${ownerField}`]: { [ownerField]: 1, _id: 1 },
      });
    }
  });

  test('an index stays when the edit does not affect it, also with a name that looks like a number', async () => {
    const collection = await newCollection([{ key: 'title', type: 'String', searchable: true }]);
    await create(collection, { keys: { a: 1, 0: -1 } });
    const drops = vi.spyOn(Collection.prototype, 'dropIndex');
    await updateCollection(await domainProject(project), collection, { rls: { enabled: true } });
    expect(drops).not.toHaveBeenCalled();
  });

  test('dropping an index drops it permanently, although the edit has rebuilt it', async () => {
    const collection = await newCollection();
    await create(collection, { keys: { b: 1 } });
    const domain = await editAfter('dropIndex', collection, { schema: [{ key: 'a', type: 'String' }] });
    await deleteIndex(domain, collection, 'b_1');
    expect(await list(collection)).toMatchObject({ total: 0 });
    expect(await built(collection)).toEqual(['_id_', 'basalt_trash']);
  });

  test('dropping an index while the edit builds it drops it permanently', async () => {
    const collection = await newCollection();
    await create(collection, { keys: { b: 1 } });
    const domain = await domainProject(project);
    const original = Collection.prototype.listIndexes;
    let listed = 0;
    vi.spyOn(Collection.prototype, 'listIndexes').mockImplementation(function deletedMeanwhile(this: Collection) {
      const cursor = original.call(this);
      const toArray = cursor.toArray.bind(cursor);
      const isSecond = ++listed === 2;
      cursor.toArray = async () => {
        if (isSecond) await deleteIndex(domain, collection, 'b_1');
        return toArray();
      };
      return cursor;
    });
    await updateCollection(domain, collection, { schema: [{ key: 'a', type: 'Date' }] });
    expect(await list(collection)).toMatchObject({ total: 0 });
    expect((await built(collection)).filter((name) => name.startsWith('b'))).toEqual(['basalt_trash']);
  });

  test('dropping an index does not restore one that the edit has removed', async () => {
    const collection = await newCollection([{ key: 'a', type: 'String', unique: true }]);
    await create(collection, { keys: { b: 1 } });
    const domain = await editAfter('dropIndex', collection, { schema: [{ key: 'a', type: 'String' }] });
    await deleteIndex(domain, collection, 'b_1');
    expect((await built(collection)).filter((name) => name.startsWith('basalt_'))).toEqual(['basalt_trash']);
  });
});
