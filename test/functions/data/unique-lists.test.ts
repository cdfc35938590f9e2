import { beforeAll, describe, expect, test } from 'vitest';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';
import { inParallel, type RequestOptions, tally } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { heldImport, idOf, recordOf } from '../../support/fixtures/transfers.ts';

const annId = 'a'.repeat(24);
const bobId = 'b'.repeat(24);
const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const schema = [
  text('code'),
  text('city'),
  { key: 'n', type: 'Number' },
  { key: 'at', type: 'Date' },
  { key: 'on', type: 'Boolean' },
  { key: 'post', type: 'Ref', ref: 'posts' },
  { key: 'tags', type: 'Array' },
  { key: 'meta', type: 'Object', fields: [text('kind')] },
];
const rls = { enabled: true, mode: 'private' } as const;

let project: TestProject;
let made = 0;

beforeAll(async () => {
  project = await newProject();
});

interface Saved {
  readonly code?: string;
  readonly message: string;
  readonly hints?: readonly string[];
  readonly errors?: readonly { readonly field: string; readonly count?: number; readonly examples?: string[] }[];
  readonly data: { readonly unique?: readonly object[] };
}

const collections = () => `/api/projects/${project.id}/collections`;
const make = async (unique: unknown, more: object = {}) => {
  const name = `l${++made}`;
  const answer = await project.developer.dashboard<Saved>('POST', collections(), { name, schema, unique, ...more });
  return { name, answer };
};
const create = async (unique: unknown, more: object = {}): Promise<string> => {
  const { name, answer } = await make(unique, more);
  expect(answer).toMatchObject({ status: 201 });
  return name;
};
const edit = (name: string, body: object) =>
  project.developer.dashboard<Saved>('PUT', `${collections()}/${name}`, body);

interface Body {
  readonly _id: string;
  readonly code?: string;
  readonly message?: string;
  readonly errors?: readonly object[];
}

const as = async (userId: string): Promise<RequestOptions> => ({
  key: project.publishableKey,
  token: await project.tokenFor(userId),
});
const insert = (name: string, body: object, caller: RequestOptions = {}) =>
  project.api<Body>('POST', `/api/data/${name}`, { ...caller, body });
const send = (method: string, path: string, body?: object, caller: RequestOptions = {}) =>
  project.api<Body>(method, `/api/data/${path}`, { ...caller, ...(body && { body }) });
const statuses = async (name: string, bodies: readonly object[]): Promise<number[]> => {
  const answers: number[] = [];
  for (const body of bodies) answers.push((await insert(name, body)).status);
  return answers;
};
const taken = (field: string) => ({ status: 409, body: { code: 'DUPLICATE_VALUE', errors: [{ field }] } });

describe('fields that are unique together', () => {
  test('409 DUPLICATE_VALUE with the fields, in an insert, a bulk, an update and a PUT with an id', async () => {
    const name = await create([['code', 'n']]);
    const first = await insert(name, { code: 'a', n: 1 });
    expect(first.status).toBe(201);
    const again = await insert(name, { code: 'a', n: 1 });
    expect(again).toMatchObject(taken('code, n'));
    expect(again.body.message).toBe('Another document has the same values of code, n; together they must be unique.');
    const bulk = await project.api('POST', `/api/data/${name}/bulk`, { body: [{ code: 'b' }, { code: 'a', n: 1 }] });
    expect(bulk).toMatchObject({ status: 409, body: { errors: [{ field: 'code, n', index: 1 }] } });
    const other = await insert(name, { code: 'a', n: 2 });
    expect(other.status).toBe(201);
    expect(await send('PATCH', `${name}/${other.body._id}`, { n: 1 })).toMatchObject(taken('code, n'));
    const byId = { headers: { 'if-none-match': '*' }, body: { code: 'a', n: 1 } };
    expect(await project.api('PUT', `/api/data/${name}/${'1'.repeat(24)}`, byId)).toMatchObject(taken('code, n'));
  });

  test('a list applies when one of its fields is set; null counts as missing, and missing equals missing', async () => {
    const name = await create([['code', 'n']]);
    expect(await statuses(name, [{}, {}, { code: null }, { code: null, n: null }])).toEqual([201, 201, 201, 201]);
    expect(await statuses(name, [{ code: 'a' }, { code: 'a', n: null }, { code: 'a' }])).toEqual([201, 409, 409]);
    expect(await statuses(name, [{ n: 1 }, { n: 1, code: null }, { n: 1, code: 'a' }])).toEqual([201, 409, 201]);
  });

  test('values of every type allowed in a list are distinct', async () => {
    const name = await create([['n', 'at', 'on', 'post']]);
    const whole = { n: 1, at: '2026-01-31', on: false, post: '1'.repeat(24) };
    expect(await statuses(name, [whole, whole])).toEqual([201, 409]);
    const others = [{ n: 2 }, { at: '2026-02-01' }, { on: true }, { post: '2'.repeat(24) }];
    expect(
      await statuses(
        name,
        others.map((change) => ({ ...whole, ...change })),
      ),
    ).toEqual([201, 201, 201, 201]);
    expect(
      await statuses(
        name,
        others.map((change) => ({ ...whole, ...change })),
      ),
    ).toEqual([409, 409, 409, 409]);
  });

  test('ignoreCase ignores case but not accents, in all fields', async () => {
    const name = await create([{ fields: ['code', 'city'], ignoreCase: true }]);
    expect(
      await statuses(name, [
        { code: 'Ab', city: 'Rome' },
        { code: 'aB', city: 'ROME' },
      ]),
    ).toEqual([201, 409]);
    expect(
      await statuses(name, [
        { code: 'áb', city: 'Rome' },
        { code: 'ab ', city: 'Rome' },
      ]),
    ).toEqual([201, 201]);
    expect(await insert(name, { code: 'ÁB', city: 'rome' })).toMatchObject(taken('code, city'));
    const exact = await create([['code']]);
    expect(await statuses(exact, [{ code: 'Ab' }, { code: 'aB' }, { code: 'Ab' }])).toEqual([201, 201, 409]);
  });

  test('one field may be unique, in a list, and in a list that ignores case', async () => {
    const fields = [text('code', { unique: true }), text('city')];
    const name = await create([['code'], { fields: ['code'], ignoreCase: true }], { schema: fields });
    expect(await statuses(name, [{ code: 'a' }, { code: 'A' }, { code: 'b' }])).toEqual([201, 409, 201]);
    expect((await edit(name, { schema: [text('code'), text('city')], unique: [['code']] })).status).toBe(200);
    expect(await statuses(name, [{ code: 'A' }, { code: 'a' }])).toEqual([201, 409]);
  });

  test('a trashed document frees its values; 409 DUPLICATE_VALUE when it is recovered and they are taken', async () => {
    for (const changes of [false, true]) {
      const name = await create([['code', 'n']], { changes });
      const { _id } = (await insert(name, { code: 'a' })).body;
      await send('DELETE', `${name}/${_id}`);
      const second = await insert(name, { code: 'a' });
      expect(second.status).toBe(201);
      expect(await send('PATCH', `${name}/${_id}/recover`)).toMatchObject(taken('code, n'));
      await send('DELETE', `${name}/${second.body._id}?permanent=true`);
      expect((await send('PATCH', `${name}/${_id}/recover`)).status).toBe(200);
      expect((await insert(name, { code: 'a' })).status).toBe(409);
    }
  });

  test('keepTrashed keeps values of trashed documents taken until permanent deletion', async () => {
    for (const changes of [false, true]) {
      const name = await create([{ fields: ['code'], keepTrashed: true }], { changes });
      const { _id } = (await insert(name, { code: 'a' })).body;
      await send('DELETE', `${name}/${_id}`);
      expect(await insert(name, { code: 'a' })).toMatchObject(taken('code'));
      expect((await send('PATCH', `${name}/${_id}/recover`)).status).toBe(200);
      await send('DELETE', `${name}/${_id}?permanent=true`);
      expect((await insert(name, { code: 'a' })).status).toBe(201);
    }
  });

  test('exactly one of 50 concurrent inserts of one value is stored, in 20 rounds of each kind', async () => {
    const kinds = [
      [await create([['code', 'n']]), {}, (round: number) => ({ code: `c${round}`, n: 1 })],
      [
        await create([{ fields: ['code', 'n'], ignoreCase: true }]),
        {},
        (round: number, n: number) => ({ code: `${n % 2 ? 'C' : 'c'}${round}` }),
      ],
      [await create([['userId', 'code']], { rls }), await as(annId), (round: number) => ({ code: `c${round}` })],
      [
        await create([{ fields: ['userId', 'code'], ignoreCase: true }], { rls }),
        await as(bobId),
        (round: number, n: number) => ({ code: `${n % 2 ? 'C' : 'c'}${round}` }),
      ],
    ] as const;
    for (const [name, caller, body] of kinds) {
      for (let round = 0; round < 20; round += 1) {
        const answers = await inParallel(50, (n) => insert(name, body(round, n), caller));
        expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
      }
      const { total } = (await project.api<{ data: { total: number } }>('GET', `/api/data/${name}`)).body.data;
      expect(total).toBe(20);
    }
  }, 120_000);

  test('an import rejects lines that violate the list, and stores the others', async () => {
    const name = await create([['code', 'n']]);
    await insert(name, { code: 'a', n: 1 });
    const held = await heldImport(project.id, name, '{"code":"a","n":1}\n{"code":"b"}\n{"code":"b","n":null}');
    await runTransfer(idOf(held));
    expect(await recordOf(held)).toMatchObject({
      inserted: 1,
      rejected: 2,
      errors: [
        { line: 1, field: 'code, n' },
        { line: 3, field: 'code, n' },
      ],
    });
  });
});

describe('the owner field in a list', () => {
  test('201 for another user’s value, 409 DUPLICATE_VALUE for one of the user’s own, any number of times', async () => {
    const { name, answer } = await make([['userId', 'code']], { rls });
    expect(answer).toMatchObject({ status: 201, body: { data: { unique: [{ fields: ['userId', 'code'] }] } } });
    expect(answer.body.hints).toBeUndefined();
    const [ann, bob] = [await as(annId), await as(bobId)];
    expect((await insert(name, { code: 'a' }, ann)).status).toBe(201);
    expect((await insert(name, { code: 'a' }, bob)).status).toBe(201);
    expect(tally(await inParallel(50, () => insert(name, { code: 'a' }, bob)))).toEqual({ 409: 50 });
    expect(await insert(name, { code: 'a' }, bob)).toMatchObject(taken('userId, code'));
    expect((await insert(name, {}, bob)).status).toBe(201);
    expect((await insert(name, {}, bob)).status).toBe(201);
  });

  test('a list of the owner field limits each user to one document, but allows any number without an owner', async () => {
    const name = await create([['userId']], { rls: { enabled: true }, schema: null });
    const ann = await as(annId);
    expect((await insert(name, { a: 1 }, ann)).status).toBe(201);
    expect(await insert(name, { a: 2 }, ann)).toMatchObject(taken('userId'));
    expect((await insert(name, { a: 1 }, await as(bobId))).status).toBe(201);
    expect(await statuses(name, [{}, {}, { userId: annId }])).toEqual([201, 201, 409]);
  });

  test('a Ref to users as the owner field works the same way', async () => {
    const fields = [text('code'), { key: 'by', type: 'Ref', ref: 'users' }];
    const name = await create([['by', 'code']], { schema: fields, rls: { ...rls, ownerField: 'by' } });
    const [ann, bob] = [await as(annId), await as(bobId)];
    expect((await insert(name, { code: 'a' }, ann)).status).toBe(201);
    expect(await insert(name, { code: 'a' }, ann)).toMatchObject(taken('by, code'));
    expect((await insert(name, { code: 'a' }, bob)).status).toBe(201);
  });
});

describe('a list without the owner field in a private collection', () => {
  test('429 RATE_LIMITED after 20 conflicts of a user, as for a unique field; creating the list returns a hint', async () => {
    const { name, answer } = await make([['code', 'n']], { rls });
    expect(answer.body.hints).toEqual([expect.stringContaining('add "userId" to the fields')]);
    expect((await insert(name, { code: 'secret' })).status).toBe(201);
    const carol = await as('c'.repeat(24));
    expect(tally(await inParallel(50, () => insert(name, { code: 'secret' }, carol)))).toEqual({ 409: 20, 429: 30 });
    const clash = await insert(name, { code: 'secret' }, await as(bobId));
    expect(clash).toMatchObject(taken('code, n'));
    expect(JSON.stringify(clash.body)).not.toContain('secret');
  });
});

describe('the option unique of a collection', () => {
  test('is returned as objects, stays when other settings change, and ends with null or an empty list', async () => {
    const name = await create([['code', 'n'], { fields: ['city'], ignoreCase: true, keepTrashed: false }]);
    const both = [{ fields: ['code', 'n'] }, { fields: ['city'], ignoreCase: true }];
    expect((await edit(name, { changes: true })).body.data.unique).toEqual(both);
    const read = await project.developer.dashboard<Saved>('GET', `${collections()}/${name}`);
    expect(read.body.data.unique).toEqual(both);
    expect(await statuses(name, [{ city: 'A' }, { city: 'a' }])).toEqual([201, 409]);
    expect((await edit(name, { unique: null })).body.data.unique).toBeUndefined();
    expect(await statuses(name, [{ city: 'a' }, { code: 'a' }, { code: 'a' }])).toEqual([201, 201, 201]);
    expect((await edit(name, { unique: [] })).body.data.unique).toBeUndefined();
  });

  test.each<[string, unknown, string]>([
    ['that is not a list', 'code', 'unique'],
    ['of more than 10 entries', Array.from({ length: 11 }, (_, n) => [['code', 'n', 'at', 'on'][n % 4]]), 'unique'],
    ['with an entry that is not a list', ['code'], 'unique.0'],
    ['with an empty entry', [[]], 'unique.0'],
    ['with 5 fields', [['code', 'city', 'n', 'at', 'on']], 'unique.0'],
    ['with an entry twice', [['code'], { fields: ['code'] }], 'unique.1'],
    ['with a field twice', [['code', 'code']], 'unique.0'],
    ['with a nested field', [['meta.kind']], 'unique.0'],
    ['with a system field', [['createdAt']], 'unique.0'],
    ['with _id', [['_id']], 'unique.0'],
    ['with an Array', [['tags']], 'unique.0'],
    ['with an Object', [['meta']], 'unique.0'],
    ['with a missing field', [['name']], 'unique.0'],
    ['with a field that is not text', [[5]], 'unique.0'],
    ['with the owner field of a collection without row security', [['userId']], 'unique.0'],
    ['with an unknown member', [{ fields: ['code'], sparse: true }], 'unique.0'],
    ['with a flag of another type', [{ fields: ['code'], ignoreCase: 'yes' }], 'unique.0.ignoreCase'],
  ])('400 INVALID_SCHEMA for one %s', async (_what, unique, field) => {
    const refused = { status: 400, body: { code: 'INVALID_SCHEMA', errors: [{ field }] } };
    expect((await make(unique)).answer).toMatchObject(refused);
    const name = await create(null);
    expect(await edit(name, { unique })).toMatchObject(refused);
  });

  test('400 INVALID_SCHEMA for an edit that drops a field of an entry or its owner field, or makes it an Array', async () => {
    const refused = { status: 400, body: { code: 'INVALID_SCHEMA', errors: [{ field: 'unique.0' }] } };
    const name = await create([['userId', 'code']], { rls });
    expect(await edit(name, { schema: [text('city')] })).toMatchObject(refused);
    expect(await edit(name, { schema: [{ key: 'code', type: 'Array' }] })).toMatchObject(refused);
    expect(await edit(name, { rls: { enabled: false } })).toMatchObject(refused);
    expect(await edit(name, { rls: { ownerField: 'author' } })).toMatchObject(refused);
    expect((await edit(name, { schema: [text('city')], unique: [['userId', 'city']] })).status).toBe(200);
  });

  test('400 INVALID_SCHEMA when the indexes together need more room than allowed', async () => {
    const fields = Array.from({ length: 20 }, (_, n) => text(`f${n}`, { unique: true }));
    expect((await make([['f0', 'f1']], { schema: fields })).answer).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA', message: expect.stringContaining('an entry of unique or an onDelete 1') },
    });
  });

  test('409 SCHEMA_CONFLICT with count and examples when stored values conflict, also with force', async () => {
    const name = await create(null);
    const ids: string[] = [];
    for (const body of [{ code: 'a' }, { code: 'A', n: null }, { code: 'b' }])
      ids.push((await insert(name, body)).body._id);
    const trashed = (await insert(name, { code: 'b' })).body._id;
    await send('DELETE', `${name}/${trashed}`);
    const unique = [{ fields: ['code', 'n'], ignoreCase: true }];
    for (const force of [false, true]) {
      const { status, body } = await edit(name, { unique, force });
      expect([status, body.code, body.errors]).toEqual([
        409,
        'SCHEMA_CONFLICT',
        [{ field: 'code, n', message: 'code, n must be unique', count: 2, examples: ids.slice(0, 2) }],
      ]);
    }
    expect((await edit(name, { unique: [['code', 'n']] })).status).toBe(200);
    expect(await edit(name, { unique: [{ fields: ['code', 'n'], keepTrashed: true }] })).toMatchObject({
      status: 409,
      body: { errors: [{ field: 'code, n', count: 2 }] },
    });
    expect(await statuses(name, [{ code: 'a' }, { code: 'A' }])).toEqual([409, 409]);
  });

  test('409 SCHEMA_CONFLICT when the database has no room for another index', async () => {
    const name = await create(null);
    const domain = await domainProject(project);
    const keys = Array.from({ length: 61 }, (_, n) => ({ name: `own${n}`, key: { [`k${n}`]: 1 } }));
    await onProject(domain, (db) => db.collection(name).createIndexes(keys), 20_000);
    const conflict = {
      status: 409,
      body: { code: 'SCHEMA_CONFLICT', message: expect.stringContaining('MongoDB 6.0') },
    };
    expect(await edit(name, { unique: [['code', 'n']] })).toMatchObject(conflict);
    const read = await project.developer.dashboard<Saved>('GET', `${collections()}/${name}`);
    expect(read.body.data.unique).toBeUndefined();
  });

  test('a list that ignores case replaces one that does not', async () => {
    const name = await create([['code']]);
    expect((await edit(name, { unique: [{ fields: ['code'], ignoreCase: true }] })).status).toBe(200);
    expect(await statuses(name, [{ code: 'a' }, { code: 'A' }])).toEqual([201, 409]);
    expect((await edit(name, { unique: [['code']] })).status).toBe(200);
    expect(await statuses(name, [{ code: 'A' }, { code: 'a' }])).toEqual([201, 409]);
  });
});
