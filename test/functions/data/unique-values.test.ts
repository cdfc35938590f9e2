import { beforeAll, describe, expect, test } from 'vitest';
import { inParallel, type RequestOptions, tally } from '../../support/clients/client.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const annId = 'a'.repeat(24);
const bobId = 'b'.repeat(24);
const rls = { enabled: true, mode: 'private' } as const;
const whole = [{ key: 'code', type: 'String', unique: true }];
const perOwner = [{ key: 'code', type: 'String', unique: true, uniquePer: 'owner' }];

let project: TestProject;
let made = 0;

beforeAll(async () => {
  project = await newProject();
});

interface Saved {
  readonly code?: string;
  readonly hints?: readonly string[];
  readonly errors?: readonly { readonly field: string }[];
  readonly data: { readonly schema: readonly object[] };
}

const collections = () => `/api/projects/${project.id}/collections`;
const make = async (schema: object[], rowSecurity: object | null = rls) => {
  const name = `u${++made}`;
  const body = { name, schema, rls: rowSecurity };
  return { name, answer: await project.developer.dashboard<Saved>('POST', collections(), body) };
};
const edit = (name: string, body: object) =>
  project.developer.dashboard<Saved>('PUT', `${collections()}/${name}`, body);

const as = async (userId: string): Promise<RequestOptions> => ({
  key: project.publishableKey,
  token: await project.tokenFor(userId),
});
const insert = (name: string, code: string, caller: RequestOptions = {}) =>
  project.api<{ _id: string; code: string; errors?: unknown }>('POST', `/api/data/${name}`, {
    ...caller,
    body: { code },
  });

describe('a field that is unique per owner', () => {
  test('201 for another user’s value, 409 DUPLICATE_VALUE with the field for one of the user’s own', async () => {
    const { name, answer } = await make(perOwner);
    expect(answer).toMatchObject({ status: 201, body: { data: { schema: perOwner } } });
    expect(answer.body.hints).toBeUndefined();
    const [ann, bob] = [await as(annId), await as(bobId)];
    expect((await insert(name, 'one', ann)).status).toBe(201);
    const { status, body } = await insert(name, 'one', bob);
    expect(status).toBe(201);
    const taken = { status: 409, body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'code' }] } };
    expect(await insert(name, 'one', bob)).toMatchObject(taken);
    const bulk = { ...bob, body: [{ code: 'two' }, { code: 'one' }] };
    expect(await project.api('POST', `/api/data/${name}/bulk`, bulk)).toMatchObject({
      status: 409,
      body: { code: 'DUPLICATE_VALUE', errors: [{ field: 'code', index: 1 }] },
    });
    const other = await insert(name, 'three', bob);
    const update = { ...bob, body: { code: 'one' } };
    expect(await project.api('PUT', `/api/data/${name}/${other.body._id}`, update)).toMatchObject(taken);
    await project.api('DELETE', `/api/data/${name}/${body._id}`, bob);
    expect(await project.api('PUT', `/api/data/${name}/${other.body._id}`, update)).toMatchObject({ status: 200 });
  });

  test('exactly one of 50 inserts of one value by one user is stored', async () => {
    const { name } = await make(perOwner);
    const ann = await as(annId);
    const answers = await inParallel(50, () => insert(name, 'same', ann));
    expect(tally(answers)).toEqual({ 201: 1, 409: 49 });
  });

  test('409 SCHEMA_CONFLICT when one owner has a value twice, or the field becomes unique in the collection', async () => {
    const { name } = await make([{ key: 'code', type: 'String' }]);
    const [ann, bob] = [await as(annId), await as(bobId)];
    for (const caller of [ann, bob]) await insert(name, 'one', caller);
    expect(await edit(name, { schema: whole })).toMatchObject({ status: 409, body: { code: 'SCHEMA_CONFLICT' } });
    expect(await edit(name, { schema: perOwner })).toMatchObject({ status: 200 });
    expect((await insert(name, 'one', ann)).status).toBe(409);
    expect(await edit(name, { schema: whole })).toMatchObject({ status: 409, body: { code: 'SCHEMA_CONFLICT' } });
    await edit(name, { schema: [{ key: 'code', type: 'String' }] });
    expect((await insert(name, 'one', ann)).status).toBe(201);
    expect(await edit(name, { schema: perOwner })).toMatchObject({
      status: 409,
      body: { code: 'SCHEMA_CONFLICT', errors: [{ field: 'code', count: 2 }] },
    });
  });

  test.each<[string, object[], object | null]>([
    ['without row security', perOwner, null],
    ['that is not unique', [{ key: 'code', type: 'String', uniquePer: 'owner' }], rls],
    ['per something else', [{ key: 'code', type: 'String', unique: true, uniquePer: 'team' }], rls],
  ])('400 INVALID_SCHEMA for one %s', async (_what, schema, rowSecurity) => {
    expect((await make(schema, rowSecurity)).answer).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA', errors: [{ field: 'code' }] },
    });
  });

  test('400 INVALID_SCHEMA when row security is switched off while such a field exists', async () => {
    const { name } = await make(perOwner);
    expect(await edit(name, { rls: { enabled: false } })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA', errors: [{ field: 'code' }] },
    });
  });
});

describe('a field that is unique in a whole private collection', () => {
  test('creating it returns a hint that 409 reveals values of other users, and no other response does', async () => {
    const { name, answer } = await make(whole);
    expect(answer.body.hints).toEqual([expect.stringContaining('"code"')]);
    expect((await edit(name, { schema: perOwner })).body.hints).toBeUndefined();
    expect((await edit(name, { changes: true })).body.hints).toBeUndefined();
    const open = await make(whole, { enabled: true, mode: 'public-read' });
    expect(open.answer.body.hints).toBeUndefined();
    const closed = await edit(open.name, { rls: { mode: 'private' } });
    expect(closed.body.hints).toEqual([expect.stringContaining('uniquePer')]);
  });

  const own = { userId: { $user: '_id' } };
  const rules = { enabled: true, mode: 'rules', ownerField: 'userId', rules: { read: own, create: own } };

  test.each([
    ['a private collection', rls, 'c'],
    ['a collection with rules', rules, 'd'],
  ])('429 RATE_LIMITED for inserts after 20 of 50 concurrent clashes of a user in %s', async (_what, row, letter) => {
    const { name } = await make(whole, row);
    const [ann, bob] = [await as(new Array(24).fill(letter).join('')), await as(bobId)];
    expect((await insert(name, 'secret')).status).toBe(201);
    const answers = await inParallel(50, () => insert(name, 'secret', ann));
    expect(tally(answers)).toEqual({ 409: 20, 429: 30 });
    const refused = await insert(name, 'free', ann);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await insert(name, 'free', bob)).status).toBe(201);
    expect((await insert(name, 'secret')).status).toBe(409);
  });
});
