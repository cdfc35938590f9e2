import { beforeAll, describe, expect, test } from 'vitest';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { newUsersProject } from '../../support/fixtures/users.ts';

let project: TestProject;

const dates = { key: 'dates', type: 'Array', items: { type: 'Date' } };

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }, { name: 'quotes' }, { name: 'dated', schema: [dates] }]);
});

/** The size of a body as Lambda counts it: the bytes of the body as a JSON string. */
const counted = (body: unknown): number => Buffer.byteLength(JSON.stringify(JSON.stringify(body)));

const create = (collection: string, body: unknown) =>
  project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body });
const update = (id: string, body: unknown) => project.api('PATCH', `/api/data/notes/${id}`, { body });
const get = (id: string) => project.api('GET', `/api/data/notes/${id}`);

/** Each character takes six bytes in JSON and seven in a response. */
const control = '\u0001'.repeat(170_000);
const tooLarge = { status: 413, body: { code: 'DOCUMENT_TOO_LARGE' } };

describe('a document that would be too large for a response', () => {
  test('413 when an update makes it too large; the stored document stays readable', async () => {
    const { body } = await create('notes', { p0: control });
    for (const name of ['p1', 'p2', 'p3']) expect((await update(body._id, { [name]: control })).status).toBe(200);
    expect(await update(body._id, { p4: control })).toMatchObject(tooLarge);
    const answer = await get(body._id);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toContain('p3');
    expect(Object.keys(answer.body)).not.toContain('p4');
    expect((await project.api('GET', '/api/data/notes?limit=1')).status).toBe(200);
  });

  test('413 when it is inserted, alone or in bulk', async () => {
    const document = { dates: Array.from({ length: 190_000 }, () => 0) };
    expect(await create('dated', document)).toMatchObject(tooLarge);
    expect(await project.api('POST', '/api/data/dated/bulk', { body: [{}, document] })).toMatchObject(tooLarge);
    expect((await project.api('GET', '/api/data/dated?count=true')).body).toMatchObject({ data: { count: 0 } });
  });

  test('200 for a large document with room left when many updates run concurrently', async () => {
    const { body } = await create('notes', { text: 'x'.repeat(1_000_000) });
    expect((await update(body._id, { done: true })).status).toBe(200);
    const answers = await Promise.all([1, 2, 3].map((n) => update(body._id, { [`f${n}`]: n })));
    expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    expect((await get(body._id)).body).toMatchObject({ done: true });
  });

  test('200 when a large document is recovered from the trash', async () => {
    const { body } = await create('notes', { text: 'x'.repeat(1_000_000) });
    expect((await project.api('DELETE', `/api/data/notes/${body._id}`)).status).toBe(200);
    expect((await project.api('PATCH', `/api/data/notes/${body._id}/recover`)).status).toBe(200);
  });
});

describe('documents whose quotes are escaped twice in a response', () => {
  const text = '"'.repeat(500_000);

  beforeAll(async () => {
    for (let n = 0; n < 4; n += 1) await create('quotes', { n, text });
  });

  test('200 with a page cut by the size that Lambda counts, and a cursor for the rest', async () => {
    type Page = { readonly data: { readonly items: readonly { n: number }[]; readonly nextCursor: string } };
    const first = await project.api<Page>('GET', '/api/data/quotes?cursor=');
    expect(first).toMatchObject({ status: 200, body: { data: { truncated: true } } });
    expect(counted(first.body)).toBeLessThanOrEqual(5 * 1024 * 1024);
    const second = await project.api<Page>('GET', `/api/data/quotes?cursor=${first.body.data.nextCursor}`);
    expect([...first.body.data.items, ...second.body.data.items].map(({ n }) => n)).toEqual([3, 2, 1, 0]);
  });

  test('400 RESULT_TOO_LARGE for a numbered page that is too large only as Lambda counts', async () => {
    const answer = await project.api('GET', '/api/data/quotes?limit=4');
    expect(answer).toMatchObject({ status: 400, body: { code: 'RESULT_TOO_LARGE' } });
    expect((await project.api('GET', '/api/data/quotes?limit=2&page=2')).status).toBe(200);
  });

  test('400 RESULT_TOO_LARGE when an aggregation returns more than that', async () => {
    const aggregate = (pipeline: readonly object[]) =>
      project.api('POST', '/api/data/quotes/aggregate', { body: { pipeline } });
    expect(await aggregate([{ $sort: { n: 1 } }])).toMatchObject({ status: 400, body: { code: 'RESULT_TOO_LARGE' } });
    expect((await aggregate([{ $limit: 2 }])).status).toBe(200);
  });
});

test('200 for a large profile with room left, 413 for one that would be too large', async () => {
  const users = await newUsersProject();
  const user = await users.newUser();
  const path = `/api/projects/${users.id}/users/${user.userId}`;
  const wide = { key: 'bio', type: 'Array', items: { type: 'String' } };
  const schema = [
    { key: 'email', type: 'String', required: true, unique: true },
    { key: 'password', type: 'String', required: true },
    { key: 'username', type: 'String' },
    wide,
  ];
  const collection = `/api/projects/${users.id}/collections/users`;
  expect((await users.developer.dashboard('PUT', collection, { schema })).status).toBe(200);
  const grow = (n: number, text: string) => users.developer.dashboard('PATCH', path, { [`bio.${n}`]: text });
  expect((await users.developer.dashboard('PATCH', path, { bio: [] })).status).toBe(200);
  for (const n of [0, 1, 2, 3]) expect((await grow(n, control)).status).toBe(200);
  expect(await grow(4, control)).toMatchObject(tooLarge);
  expect((await grow(4, 'short')).status).toBe(200);
});
