import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { onControl, onProject } from '../../../shared/persistence/mongo.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { everyType } from '../../support/fixtures/collections.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';

interface CollectionBody {
  readonly data: Readonly<Record<string, unknown>> & { readonly schema: readonly Record<string, unknown>[] };
  readonly code?: string;
  readonly message: string;
  readonly hints?: readonly string[];
}

let project: TestProject;

beforeAll(async () => {
  project = await newProject();
});

const path = (name = '', of = project) => `/api/projects/${of.id}/collections${name && `/${name}`}`;
const create = (body: unknown, of = project) => of.developer.dashboard<CollectionBody>('POST', path('', of), body);
const read = (name: string) => project.developer.dashboard<CollectionBody>('GET', path(name));
const edit = (name: string, body: unknown) => project.developer.dashboard<CollectionBody>('PUT', path(name), body);
const remove = (name: string, of = project) => of.developer.dashboard('DELETE', path(name, of));

const title = { key: 'title', type: 'String', required: true };
const off = { enabled: false, mode: 'public-read', ownerField: 'userId', trash: 'everyone', requires: 'none' };
const date = expect.stringMatching(/^\d{4}-.*Z$/);

const indexNames = async (name: string): Promise<unknown[]> => {
  const match = await findProjectByKey(project.secretKey, '');
  if (!match) throw new Error('The project is gone');
  const indexes = await onProject(match.project, (db) => db.collection(name).listIndexes().toArray());
  return indexes.map((index) => index.name).sort();
};

const leaveBehind = (name: string, state: 'creating' | 'deleting') =>
  onControl((db) =>
    db
      .collection('collections')
      .updateOne({ projectId: new ObjectId(project.id), name }, { $set: { state, updatedAt: new Date(0) } }),
  );

describe('creating a collection', () => {
  test('201 schema-free', async () => {
    const made = {
      name: 'free',
      schema: null,
      rls: off,
      changes: false,
      documents: 0,
      createdAt: date,
      updatedAt: date,
    };
    expect(await create({ name: 'free', schema: null })).toMatchObject({ status: 201, body: { data: made } });
    expect((await read('free')).body.data).toEqual(made);
    expect(await indexNames('free')).toEqual(['_id_', 'basalt_trash']);
  });

  test('201 with every field type, returned complete and accepted again as returned', async () => {
    const { status, body } = await create({ ...everyType, name: 'every' });
    expect(status).toBe(201);
    expect(body.data.schema[0]).toEqual({ ...title, unique: false });
    expect(body.data.schema).toMatchObject(everyType.schema ?? []);
    expect(await edit('every', { schema: body.data.schema })).toMatchObject({
      status: 200,
      body: { data: { schema: body.data.schema } },
    });
    expect(await indexNames('every')).toEqual([
      '_id_',
      'basalt_read_author',
      'basalt_read_slug',
      'basalt_trash',
      'basalt_unique_String_slug',
    ]);
  });

  test('201 with row security and an index on the owner', async () => {
    const answer = await create({ name: 'owned', schema: [title], rls: { enabled: true } });
    expect(answer).toMatchObject({ status: 201, body: { data: { rls: { ...off, enabled: true } } } });
    expect(await indexNames('owned')).toContain('basalt_read_userId');
  });

  test('201 and usable immediately, with its schema enforced', async () => {
    await create({ name: 'atonce', schema: [title] });
    expect((await project.api('POST', '/api/data/atonce', { body: { title: 'x' } })).status).toBe(201);
    expect((await project.api('POST', '/api/data/atonce', { body: {} })).status).toBe(400);
    expect((await read('atonce')).body.data.documents).toBe(1);
  });

  test.each<[string, unknown, string, string]>([
    ['an empty schema', { name: 'x', schema: [] }, 'INVALID_SCHEMA', 'At least one field is required'],
    ['no schema', { name: 'x' }, 'VALIDATION_FAILED', 'schema is required'],
    ['no name', { schema: null }, 'VALIDATION_FAILED', 'name is required'],
    ['a name that is an object', { name: {}, schema: null }, 'VALIDATION_FAILED', 'name must be a String'],
    ['a bad name', { name: 'a.b', schema: null }, 'INVALID_NAME', 'A collection name'],
    ['a reserved name', { name: 'systemx', schema: null }, 'INVALID_NAME', 'reserved'],
    ['users in another case', { name: 'USERS', schema: null }, 'INVALID_NAME', 'reserved'],
    ['an unknown field', { name: 'x', schema: null, owner: 1 }, 'VALIDATION_FAILED', 'owner is not a known field'],
    ['a broken field', { name: 'x', schema: [{ key: 'a', type: 'Text' }] }, 'INVALID_SCHEMA', 'a needs a type'],
    ['rls that is a list', { name: 'x', schema: null, rls: [] }, 'VALIDATION_FAILED', 'rls must be an Object'],
    ['rls without enabled', { name: 'x', schema: null, rls: {} }, 'VALIDATION_FAILED', 'rls.enabled is required'],
    [
      'an unknown mode',
      { name: 'x', schema: null, rls: { enabled: true, mode: 'none' } },
      'VALIDATION_FAILED',
      'rls.mode must be one of public-read, private, signed-in, rules',
    ],
    [
      'an unknown rls field',
      { name: 'x', schema: null, rls: { enabled: true, roles: [] } },
      'VALIDATION_FAILED',
      'rls.roles is not a known field',
    ],
    [
      'a system owner field',
      { name: 'x', schema: null, rls: { enabled: true, ownerField: '_id' } },
      'INVALID_SCHEMA',
      '_id',
    ],
    ['users without schema', { name: 'users', schema: null }, 'INVALID_SCHEMA', 'users collection needs a schema'],
    ['users without email', { name: 'users', schema: [title] }, 'INVALID_SCHEMA', 'email must be a required String'],
  ])('400 for %s', async (_what, body, code, message) => {
    expect(await create(body)).toMatchObject({
      status: 400,
      body: { success: false, code, message: expect.stringContaining(message) },
    });
  });

  test('409 COLLECTION_EXISTS: of 50 concurrent requests, in any case, exactly one succeeds', async () => {
    const answers = await inParallel(50, (index) => create({ name: index % 2 ? 'race' : 'RACE', schema: null }));
    expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('COLLECTION_EXISTS');
  });

  test('403 PLAN_LIMIT: of 50 concurrent requests exactly as many as the plan allows succeed; a deletion makes room', async () => {
    const free = await newProject([], await newDeveloper('free'));
    const answers = await inParallel(50, (index) => create({ name: `c${index}`, schema: null }, free));
    expect(tally(answers)).toEqual({ 201: 5, 403: 45 });
    expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({
      code: 'PLAN_LIMIT',
      message: expect.stringMatching(/free plan allows 5 collections/),
    });
    const name = answers.find(({ status }) => status === 201)?.body.data.name;
    expect((await remove(String(name), free)).status).toBe(200);
    expect((await create({ name: 'again', schema: null }, free)).status).toBe(201);
  });

  test('403 PLAN_LIMIT: of 50 concurrent requests as many as there is room for succeed, next to those of a larger plan', async () => {
    const kept = ['a', 'b', 'c'];
    const free = await newProject(
      kept.map((name) => ({ name })),
      await newDeveloper('free'),
    );
    const projectId = new ObjectId(free.id);
    for (const [index, name] of kept.entries()) {
      const slot = 7 + index;
      await onControl((db) => db.collection('collections').updateOne({ projectId, name }, { $set: { slot } }));
    }
    const answers = await inParallel(50, (index) => create({ name: `c${index}`, schema: null }, free));
    expect(tally(answers)).toEqual({ 201: 2, 403: 48 });
  });

  test.each(['creating', 'deleting'] as const)(
    '201: one of 20 concurrent requests takes over a collection interrupted while %s, without its documents and settings',
    async (state) => {
      const name = `cut-${state}`;
      await create({ name, schema: null, searchLanguage: 'german' });
      await project.api('POST', `/api/data/${name}`, { body: { old: true } });
      await leaveBehind(name, state);
      expect(tally(await inParallel(20, () => create({ name, schema: [title] })))).toEqual({ 201: 1, 409: 19 });
      const { data } = (await read(name)).body;
      expect(data).toMatchObject({ schema: [title], documents: 0 });
      expect(data).not.toHaveProperty('searchLanguage');
      expect(await indexNames(name)).toEqual(['_id_', 'basalt_trash']);
    },
  );
});

describe('a default that is not saved', () => {
  const count = { key: 'n', type: 'Number', default: 1 };
  const required = { ...count, required: true };
  const nested = (field: object) => ({ key: 'a', type: 'Array', items: { type: 'Object', fields: [field] } });
  const schema = (at: object) => [count, required, at].map((field, i) => ({ ...field, key: `f${i}` }));

  test.each<[string, object, string, RegExp]>([
    ['required', { schema: schema(count) }, '"f1"', /required field must be sent/],
    ['required inside a list', { schema: [title, nested(required)] }, '"a.n"', /required field must be sent/],
    [
      'the owner',
      { schema: [{ key: 'userId', type: 'String', default: 'x' }], rls: { enabled: true } },
      '"userId"',
      /the owner is the user who inserts/,
    ],
  ])('is named in the hints of a creation and an edit when its field is %s', async (of, definition, field, reason) => {
    const name = `lost-${of.replaceAll(' ', '-')}`;
    const made = await create({ name, ...definition });
    expect(made).toMatchObject({ status: 201, body: { hints: [expect.stringMatching(reason)] } });
    expect(made.body.hints?.[0]?.match(/"[\w.]+"/)?.[0]).toBe(field);
    expect((await edit(name, definition)).body.hints).toEqual(made.body.hints);
    expect((await edit(name, { schema: made.body.data.schema })).body).not.toHaveProperty('hints');
  });

  test('is named when an edit of the row security makes its field the owner', async () => {
    const made = await create({ name: 'lost-owner', schema: [{ key: 'by', type: 'String', default: 'x' }, title] });
    expect(made.body).not.toHaveProperty('hints');
    const { body } = await edit('lost-owner', { rls: { enabled: true, ownerField: 'by' } });
    expect(body.hints).toEqual([expect.stringMatching(/^"by" is saved without its default: the owner is the user/)]);
    expect(body.data.schema?.[0]).not.toHaveProperty('default');
    expect((await edit('lost-owner', { rls: { enabled: true } })).body).not.toHaveProperty('hints');
  });

  test('has no hint when each default is saved', async () => {
    const made = await create({ name: 'kept', schema: [title, count, nested(count)], rls: { enabled: true } });
    expect(made.status).toBe(201);
    expect(made.body).not.toHaveProperty('hints');
  });
});

describe('the users collection', () => {
  test('201 with the address unique and indexed, whether or not the request says so', async () => {
    const own = await newProject();
    const schema = [
      { key: 'email', type: 'String', required: true },
      { key: 'password', type: 'String', required: true },
      { key: 'age', type: 'Number' },
    ];
    expect(await create({ name: 'users', schema }, own)).toMatchObject({
      status: 201,
      body: { data: { schema: [{ ...schema[0], unique: true }, schema[1], schema[2]] } },
    });
    expect(await create({ name: 'users', schema }, own)).toMatchObject({ status: 409 });
    expect(await own.developer.dashboard('PUT', path('users', own), { schema: [title] })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA' },
    });
    expect(await own.developer.dashboard('PUT', path('users', own), { rls: { enabled: true } })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA' },
    });
  });
});

describe('listing collections', () => {
  test('200 by name, in pages, with the counts of active documents', async () => {
    const own = await newProject([{ name: 'b' }, { name: 'a' }, { name: 'c' }]);
    const ids: unknown[] = [];
    for (let n = 0; n < 3; n++) ids.push((await own.api('POST', '/api/data/a', { body: { n } })).body._id);
    await own.api('DELETE', `/api/data/a/${ids[0]}`);
    const answer = await own.developer.dashboard<{ data: { items: CollectionBody['data'][] } }>(
      'GET',
      `${path('', own)}?limit=2`,
    );
    expect(answer).toMatchObject({ status: 200, body: { data: { total: 3, page: 1, limit: 2 } } });
    expect(answer.body.data.items.map(({ name, documents }) => [name, documents])).toEqual([
      ['a', 2],
      ['b', 0],
    ]);
  });
});

describe('deleting a collection', () => {
  test('200 with all its documents, and 404 the second time', async () => {
    await create({ name: 'gone', schema: null });
    await project.api('POST', '/api/data/gone', { body: { a: 1 } });
    expect(await remove('gone')).toMatchObject({ status: 200, body: { success: true, data: { name: 'gone' } } });
    expect(await remove('gone')).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
    expect((await read('gone')).status).toBe(404);
    await create({ name: 'gone', schema: null });
    expect((await read('gone')).body.data.documents).toBe(0);
  });

  test('200 when an interrupted deletion is repeated, finished or not', async () => {
    await create({ name: 'half', schema: null });
    await leaveBehind('half', 'deleting');
    expect([200, 404]).toContain((await remove('half')).status);
    expect((await create({ name: 'half', schema: null })).status).toBe(201);
  });

  test.each(['nothing', 'FREE', '%24ne', 'a%00b'])('404 for %s', async (name) => {
    for (const answer of [await read(name), await edit(name, { schema: null }), await remove(name)]) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
    }
  });
});
