import { beforeAll, expect, test } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as bulkCreate } from '../../../functions/data/create-documents.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newUsersProject } from '../../support/fixtures/users.ts';

/* The database commands of effects: none without a Ref, one find per collection that a Ref leads to, one per write. */

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const rls = { enabled: true, mode: 'public-read' };
const schema = [number('a'), number('b'), number('c'), { key: 'product', type: 'Ref', ref: 'products' }];
const sum = { $add: [{ $doc: 'a' }, 1] };
const price = { $doc: 'product.price' };
const take = { op: 'update', collection: 'products', id: { $doc: 'product' }, changes: { $inc: { sold: 1 } } };
const collections = [
  { name: 'plain', schema, rls },
  { name: 'own', schema, rls, effects: [{ on: 'create', set: { b: sum } }] },
  {
    name: 'copied',
    schema,
    rls,
    effects: [{ on: 'create', set: { b: price, c: { $multiply: [price, { $doc: 'a' }] } } }],
  },
  { name: 'sold', schema, rls, effects: [{ on: 'create', set: { b: price }, writes: [take] }] },
  { name: 'returned', schema, rls, effects: [{ on: 'delete', writes: [take] }] },
  {
    name: 'mailed',
    schema,
    rls,
    effects: [{ on: ['create', 'update'], mail: { template: 'a', to: 'shop@example.com' } }],
  },
  { name: 'changed', schema, rls, effects: [{ on: 'update', set: { b: sum } }] },
];

const ids = new Map<string, string>();
let product = '';
let caller: Pick<InvokeOptions, 'key' | 'token'>;

const costOf = (handler: Parameters<typeof invoke>[0], collectionName: string, body: unknown) =>
  commandsOf(async () => {
    const params = { collectionName, id: ids.get(collectionName) ?? '' };
    const answer = await invoke(handler, { ...caller, params, body });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  });

beforeAll(async () => {
  const project = await newUsersProject();
  await project.addCollection({ name: 'products', schema: [number('price'), number('sold', { min: 0 })] });
  for (const collection of collections) await project.addCollection(collection);
  const { userId, accessToken } = await project.newUser();
  caller = { key: project.publishableKey, token: accessToken };
  product = (await project.api<{ _id: string }>('POST', '/api/data/products', { body: { price: 2 } })).body._id;
  for (const { name } of collections) {
    const body = { a: 1, product, userId };
    ids.set(name, (await project.api<{ _id: string }>('POST', `/api/data/${name}`, { body })).body._id);
  }
  const now = Date.now();
  clock.now = () => now;
  for (const { name } of collections) {
    await costOf(createDocument, name, { a: 1, product });
    await costOf(updateDocument, name, { a: 1 });
  }
});

test('an insert needs no extra command when effects use the document itself, or run after updates only', async () => {
  const plain = await costOf(createDocument, 'plain', { a: 1, product });
  expect(await costOf(createDocument, 'own', { a: 1, product })).toEqual(plain);
  expect(await costOf(createDocument, 'changed', { a: 1, product })).toEqual(plain);
});

test('an insert needs one extra find when effects read several values through a Ref, in bulk too', async () => {
  const plain = await costOf(createDocument, 'plain', { a: 1, product });
  expect(await costOf(createDocument, 'copied', { a: 1, product })).toEqual([...plain, 'mongodb find'].sort());
  const bodies = Array.from({ length: 20 }, (_each, a) => ({ a, product }));
  const bulk = await costOf(bulkCreate, 'plain', bodies);
  expect(await costOf(bulkCreate, 'copied', bodies)).toEqual([...bulk, 'mongodb find'].sort());
});

test('an insert with one set and one write needs a find and one command more, at most 2.2 times a plain insert', async () => {
  const plain = await costOf(createDocument, 'plain', { a: 1, product });
  const sold = await costOf(createDocument, 'sold', { a: 1, product });
  expect(sold).toEqual([...plain, 'mongodb find', 'mongodb findAndModify'].sort());
  expect(sold.length / plain.length).toBeLessThanOrEqual(2.2);
});

test('writes of effects after other events cost an insert and an update nothing', async () => {
  const plain = await costOf(createDocument, 'plain', { a: 1, product });
  expect(await costOf(createDocument, 'returned', { a: 1, product })).toEqual(plain);
  const update = await costOf(updateDocument, 'plain', { a: 2 });
  expect(await costOf(updateDocument, 'returned', { a: 2 })).toEqual(update);
  expect(await costOf(updateDocument, 'sold', { a: 2 })).toEqual(update);
});

test('an update needs one extra find when effects run after updates, and none otherwise', async () => {
  const plain = await costOf(updateDocument, 'plain', { a: 2 });
  expect(await costOf(updateDocument, 'copied', { a: 2 })).toEqual(plain);
  expect(await costOf(updateDocument, 'changed', { a: 2 })).toEqual([...plain, 'mongodb find'].sort());
});

test('a write that sends an email needs one message, once a second, and an update one find', async () => {
  const plain = await costOf(createDocument, 'plain', { a: 1, product });
  const costs = await costOf(createDocument, 'mailed', { a: 1, product });
  expect([plain, [...plain, 'sqs SendMessageCommand'].sort()]).toContainEqual(costs);
  const update = await costOf(updateDocument, 'plain', { a: 2 });
  // When the job queues the email at the same moment, the update is done again, so the shortest of three counts.
  const updates: string[][] = [];
  for (const a of [2, 3, 4]) updates.push(await costOf(updateDocument, 'mailed', { a }));
  const updated = updates.toSorted((one, other) => one.length - other.length)[0];
  const found = [...update, 'mongodb find'].sort();
  expect([found, [...found, 'sqs SendMessageCommand'].sort()]).toContainEqual(updated);
});
