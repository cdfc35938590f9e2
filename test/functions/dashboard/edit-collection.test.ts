import { Collection } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { updateCollection } from '../../../shared/collections/update-collection.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

interface Conflict {
  readonly field: string;
  readonly message: string;
  readonly count: number;
  readonly examples: readonly string[];
}

interface EditBody {
  readonly data: { readonly schema: readonly { readonly key: string }[] | null };
  readonly errors?: readonly Conflict[];
}

let project: TestProject;
let domain: Project;
let made = 0;

beforeAll(async () => {
  project = await newProject();
  const match = await findProjectByKey(project.secretKey, '');
  if (!match) throw new Error('The project is gone');
  domain = match.project;
});

afterEach(() => {
  vi.restoreAllMocks();
});

const edit = (name: string, body: unknown) =>
  project.developer.dashboard<EditBody>('PUT', `/api/projects/${project.id}/collections/${name}`, body);

/** Creates a schema-free collection with these documents; returns its name and their ids. */
const collectionOf = async (
  documents: readonly unknown[],
  schema: readonly Record<string, unknown>[] | null = null,
) => {
  const name = `c${++made}`;
  await project.addCollection({ name, schema });
  const ids: string[] = [];
  for (const body of documents) {
    ids.push(String((await project.api('POST', `/api/data/${name}`, { body })).body._id));
  }
  return { name, ids };
};

const indexNames = async (name: string): Promise<unknown[]> =>
  (await onProject(domain, (db) => db.collection(name).listIndexes().toArray())).map((index) => index.name).sort();

const a = (rest: object = {}) => [{ key: 'a', type: 'String', ...rest }];

describe('editing a schema that documents match', () => {
  test('200 without a change of the documents', async () => {
    const { name, ids } = await collectionOf([{ a: 'x', more: 1 }, { a: null }, {}]);
    expect(await edit(name, { schema: a() })).toMatchObject({ status: 200, body: { data: { documents: 3 } } });
    expect((await project.api('GET', `/api/data/${name}/${ids[0]}`)).body).toMatchObject({ a: 'x', more: 1 });
  });

  test('200 ignores trashed documents', async () => {
    const { name, ids } = await collectionOf([{ a: 1 }]);
    await project.api('DELETE', `/api/data/${name}/${ids[0]}`);
    expect((await edit(name, { schema: a({ required: true }) })).status).toBe(200);
  });

  test('200 keeps settings that are missing in the request', async () => {
    const { name } = await collectionOf([], a({ required: true, unique: false }));
    const rls = { enabled: true, mode: 'private', ownerField: 'by' };
    expect(await edit(name, { rls })).toMatchObject({ status: 200, body: { data: { schema: a(), rls } } });
    expect(await edit(name, { schema: null })).toMatchObject({ status: 200, body: { data: { schema: null, rls } } });
  });

  test('200 keeps row security settings that are missing or null', async () => {
    const { name } = await collectionOf([]);
    const rls = { enabled: true, mode: 'private', ownerField: 'by' };
    await edit(name, { rls });
    for (const part of [
      {},
      { mode: 'private' },
      { ownerField: 'by' },
      { enabled: null, trash: 'everyone' },
      { enabled: true },
      { enabled: true, mode: 'private' },
      { ...rls, mode: null, ownerField: null },
    ]) {
      expect(await edit(name, { rls: part })).toMatchObject({ status: 200, body: { data: { rls } } });
    }
    expect(await edit(name, { rls: null })).toMatchObject({ status: 200, body: { data: { rls } } });
    const reader = { key: project.publishableKey };
    expect(await project.api('GET', `/api/data/${name}`, reader)).toMatchObject({ status: 401 });
    const opened = await edit(name, { rls: { mode: 'public-read' } });
    expect(opened).toMatchObject({ status: 200, body: { data: { rls: { ...rls, mode: 'public-read' } } } });
    const trash = await edit(name, { rls: { trash: 'owner', mode: 'private' } });
    expect(trash.body.data).toMatchObject({ rls: { ...rls, trash: 'owner' } });
    const owner = await edit(name, { rls: { ownerField: 'author' } });
    expect(owner.body.data).toMatchObject({ rls: { ...rls, ownerField: 'author' } });
    const off = await edit(name, { rls: { enabled: false } });
    expect(off.body.data).toMatchObject({ rls: { ...rls, enabled: false, ownerField: 'author' } });
  });

  test('200 drops the default of a field that becomes required, or becomes the owner field', async () => {
    const { name } = await collectionOf([], [...a({ default: 'x' }), { key: 'by', type: 'String', default: 'nobody' }]);
    const model = async () => {
      const { body } = await project.api<{ data: { collection: { model: unknown } } }>('GET', `/api/schemas/${name}`);
      return body.data.collection.model;
    };
    const kept = { type: 'String', unique: false };
    expect(await model()).toEqual([
      { key: 'a', ...kept, required: false, default: 'x' },
      { key: 'by', ...kept, required: false, default: 'nobody' },
    ]);
    const schema = [...a({ default: 'x', required: true }), { key: 'by', type: 'String', default: 'nobody' }];
    const edited = await edit(name, { schema, rls: { enabled: true, ownerField: 'by' } });
    expect(edited.status).toBe(200);
    expect(edited.body.data.schema).toEqual([
      { key: 'a', ...kept, required: true },
      { key: 'by', ...kept, required: false },
    ]);
    await expect.poll(model).toEqual(edited.body.data.schema);
  });

  test('200 builds and drops the indexes of the schema', async () => {
    const { name } = await collectionOf([{ a: 'x' }, { a: 'y' }, { a: null }, { a: null }, {}]);
    await edit(name, { schema: a({ unique: true }), rls: { enabled: true } });
    expect(await indexNames(name)).toEqual([
      '_id_',
      'basalt_read_a',
      'basalt_read_userId',
      'basalt_trash',
      'basalt_unique_String_a',
    ]);
    expect(await project.api('POST', `/api/data/${name}`, { body: { a: 'x' } })).toMatchObject({ status: 409 });
    await edit(name, { schema: a(), rls: { enabled: false } });
    expect(await indexNames(name)).toEqual(['_id_', 'basalt_trash']);
  });
});

describe('row security that hides documents', () => {
  const own = [{ a: 1 }, { at: '2dsphere' }, { b: 1, userId: 1 }, { t: 'text' }];
  const ref = [{ key: 'r', type: 'Ref', ref: 'anything' }];
  const plain = ['_id_', 'a_1', 'at_2dsphere', 'b_1_userId_1', 'basalt_read_r', 'basalt_trash', 't_text'];
  const ownerFirst = [
    '_id_',
    'b_1_userId_1',
    'basalt_owner_first_a_1',
    'basalt_owner_first_at_2dsphere',
    'basalt_owner_r',
    'basalt_read_userId',
    'basalt_trash',
    't_text',
  ];

  test('200 builds every index with the owner first, and reverts that', async () => {
    const { name } = await collectionOf([
      { a: 'x', userId: 'u' },
      { a: 'y', at: { type: 'Point', coordinates: [1, 1] } },
    ]);
    await edit(name, { schema: [{ key: 'a', type: 'String' }, ...ref] });
    const indexes = `/api/projects/${project.id}/collections/${name}/indexes`;
    for (const keys of own) expect((await project.developer.dashboard('POST', indexes, { keys })).status).toBe(201);
    expect(await indexNames(name)).toEqual(plain);
    await edit(name, { rls: { enabled: true, mode: 'private' } });
    expect(await indexNames(name)).toEqual(ownerFirst);
    const near = { near: { type: 'Point', coordinates: [1, 1] }, distanceField: 'far' };
    const body = { pipeline: [{ $geoNear: near }] };
    const places = async () => (await project.api('POST', `/api/data/${name}/aggregate`, { body })).body.data;
    await expect.poll(places).toMatchObject([{ a: 'y' }]);
    for (const index of ['a_1', 'at_2dsphere']) {
      expect((await project.developer.dashboard('DELETE', `${indexes}/${index}`)).status).toBe(200);
    }
    const left = (names: readonly string[]) => names.filter((index) => !/a_1$|at_2dsphere$/.test(index));
    expect(await indexNames(name)).toEqual(left(ownerFirst));
    await edit(name, { rls: { enabled: false } });
    expect(await indexNames(name)).toEqual(left(plain));
  });
});

describe('409 SCHEMA_CONFLICT', () => {
  test.each<[string, unknown[], unknown[], [string, string, number[]][]]>([
    ['a type', a(), [{ a: 1 }, { a: 'x' }, {}], [['a', 'a must be a String', [0]]]],
    [
      'a required field',
      a({ required: true }),
      [{}, { a: null }, { a: 'x' }],
      [['a', 'a is required and must be a String', [0, 1]]],
    ],
    ['a Date stored as text', [{ key: 'a', type: 'Date' }], [{ a: '2026-01-01' }], [['a', 'a must be a Date', [0]]]],
    [
      'a sub-field',
      [{ key: 'o', type: 'Object', fields: [{ key: 'b', type: 'Number', required: true }] }],
      [{ o: { b: 1 } }, { o: {} }, { o: { b: 'x' } }, { o: null }, {}, { o: [1] }],
      [
        ['o', 'o must be an Object', [5]],
        ['o.b', 'o.b is required and must be a Number', [1, 2]],
      ],
    ],
    [
      'elements',
      [{ key: 't', type: 'Array', items: { type: 'String' } }],
      [{ t: [] }, { t: ['x', null] }, { t: ['x'] }, { t: [1] }],
      [['t', 't may only have elements of type String', [1, 3]]],
    ],
    [
      'a unique field',
      a({ unique: true }),
      [{ a: 'x' }, { a: 'y' }, { a: 'x' }, { a: 'x' }, { a: null }, {}],
      [['a', 'a must be unique', [0, 2, 3]]],
    ],
  ])('for %s, with count and examples', async (_what, schema, documents, conflicts) => {
    const { name, ids } = await collectionOf(documents);
    const { status, body } = await edit(name, { schema });
    expect({ status, body }).toMatchObject({ status: 409, body: { success: false, code: 'SCHEMA_CONFLICT' } });
    expect(body.errors?.map(({ examples, ...rest }) => ({ ...rest, examples: [...examples].sort() }))).toEqual(
      conflicts.map(([field, message, broken]) => ({
        field,
        message,
        count: broken.length,
        examples: broken.map((index) => ids[index]).sort(),
      })),
    );
    expect((await edit(name, {})).body.data.schema).toBeNull();
    expect(await indexNames(name)).toEqual(['_id_', 'basalt_trash']);
  });

  test('with at most 5 examples and the full count', async () => {
    const { name } = await collectionOf(Array.from({ length: 8 }, (_, index) => ({ a: index })));
    const { body } = await edit(name, { schema: a() });
    expect(body.errors).toMatchObject([{ field: 'a', count: 8 }]);
    expect(body.errors?.[0]?.examples).toHaveLength(5);
  });

  test('200 with force: the schema applies only to new writes', async () => {
    const { name, ids } = await collectionOf([{ a: 1 }]);
    expect((await edit(name, { schema: a(), force: true })).status).toBe(200);
    expect((await project.api('GET', `/api/data/${name}/${ids[0]}`)).body.a).toBe(1);
  });

  test('also with force, when a field cannot be made unique', async () => {
    const { name } = await collectionOf([{ a: 'x' }, { a: 'x' }, { a: 1 }]);
    const answer = await edit(name, { schema: a({ unique: true }), force: true });
    expect(answer).toMatchObject({ status: 409, body: { errors: [{ field: 'a', count: 2 }] } });
    expect(answer.body.errors).toHaveLength(1);
  });

  test.each([
    [false, 'Change fewer fields in one request, or send "force": true'],
    [true, 'Change fewer fields in one request.'],
  ])('when all checks together take too long, force or not (%s)', async (force, advice) => {
    const { name } = await collectionOf([{ a: 'x' }]);
    let checks = 0;
    const { aggregate } = Collection.prototype;
    vi.spyOn(Collection.prototype, 'aggregate').mockImplementation(function counted(this: Collection, ...options) {
      checks++;
      return aggregate.apply(this, options);
    });
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + checks * 7000);
    const schema = ['a', 'b', 'c', 'd'].map((key) => ({ key, type: 'String', required: false, unique: true }));
    const refused = updateCollection(domain, name, { schema, force });
    await expect(refused).rejects.toMatchObject({ code: 'SCHEMA_CONFLICT', message: expect.stringContaining(advice) });
    expect(checks).toBe(3);
    expect(await indexNames(name)).toEqual(['_id_', 'basalt_trash']);
  });

  test('for all except one of several concurrent edits; schema and indexes match that one', async () => {
    const { name } = await collectionOf([{ x: 1 }]);
    const answers = await inParallel(10, (index) =>
      edit(name, { schema: [{ key: `k${index}`, type: 'String', unique: true }] }),
    );
    expect(Object.keys(tally(answers)).sort()).toEqual(['200', '409']);
    const current = await edit(name, {});
    const [field] = current.body.data.schema ?? [];
    expect(await indexNames(name)).toEqual([
      '_id_',
      `basalt_read_${field?.key}`,
      'basalt_trash',
      `basalt_unique_String_${field?.key}`,
    ]);
  });
});

describe('503 for an edit that exceeds its time limit', () => {
  /** Each index build takes this much time. */
  const passWithEachBuild = (ms: number): void => {
    let builds = 0;
    const { createIndexes } = Collection.prototype;
    vi.spyOn(Collection.prototype, 'createIndexes').mockImplementation(function slow(this: Collection, ...options) {
      builds++;
      return createIndexes.apply(this, options);
    });
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + builds * ms);
  };

  test.each([
    ['after it is saved: its indexes are built later', 30_000, ['_id_', 'basalt_trash', 'basalt_unique_String_a']],
    ['and 200 within the limit', 20_000, ['_id_', 'basalt_read_a', 'basalt_trash', 'basalt_unique_String_a']],
  ])('%s', async (_what, ms, indexes) => {
    const { name } = await collectionOf([{ a: 'x' }]);
    passWithEachBuild(ms);
    const edited = updateCollection(domain, name, { schema: a({ unique: true }) });
    if (ms > 25_000) await expect(edited).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfter: 60 });
    else expect(await edited).toMatchObject({ collection: { name } });
    vi.restoreAllMocks();
    expect(await indexNames(name)).toEqual(indexes);
    expect((await edit(name, {})).body.data.schema).toMatchObject([{ key: 'a', unique: true }]);
  });
});

describe('400', () => {
  test.each<[string, unknown, string]>([
    ['an empty schema', { schema: [] }, 'At least one field is required'],
    ['a broken field', { schema: [{ key: 'a', type: 'String', unique: 'yes' }] }, 'a must have true or false'],
    ['another name', { name: 'other', schema: null }, 'cannot be renamed'],
    ['force that is not a boolean', { schema: null, force: 'true' }, 'force must be a Boolean'],
    ['an unknown field', { schema: null, drop: true }, 'drop is not a known field'],
    [
      'an owner that is not a String',
      { schema: [{ key: 'userId', type: 'Number' }], rls: { enabled: true } },
      'userId',
    ],
  ])('for %s', async (_what, body, message) => {
    const { name } = await collectionOf([]);
    expect(await edit(name, body)).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
  });
});
