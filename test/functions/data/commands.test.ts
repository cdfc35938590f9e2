import { beforeAll, describe, expect, test } from 'vitest';
import { handler as aggregateDocuments } from '../../../functions/data/aggregate-documents.ts';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as getSchema } from '../../../functions/data/get-schema.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as restoreDocument } from '../../../functions/data/restore-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

const count = 'dynamodb UpdateItemCommand';
const frozen = Date.now();
const params = { collectionName: 'notes' };
let key: string;
let ids: string[];
let at = 0;

const nextId = (): string => ids[at++] ?? '';
const run =
  (handler: Parameters<typeof invoke>[0], options: InvokeOptions = {}) =>
  () =>
    invoke(handler, { key, params, ...options });

beforeAll(async () => {
  const project = await newProject([{ name: 'notes' }]);
  key = project.secretKey;
  const made = await project.api<{ data: { ids: string[] } }>('POST', '/api/data/notes/bulk', {
    body: Array.from({ length: 60 }, (_, n) => ({ n })),
  });
  ids = made.body.data.ids;
  // A stopped clock keeps the project record and the quota cached during the tests.
  clock.now = () => frozen;
  for (const handler of [listDocuments, getSchema]) await run(handler)();
  await run(createDocument, { body: { warm: true } })();
  await run(listDocuments, { query: 'limit=1' })();
});

describe('a warm request costs', () => {
  test('get: 1 find and 1 count', async () => {
    const id = nextId();
    expect(await commandsOf(run(getDocument, { params: { ...params, id } }))).toEqual([count, 'mongodb find']);
  });

  test('create: 1 insert and 1 count', async () => {
    expect(await commandsOf(run(createDocument, { body: { n: 1 } }))).toEqual([count, 'mongodb insert']);
  });

  test('bulk: 1 insert and 1 count', async () => {
    expect(await commandsOf(run(createDocuments, { body: [{ n: 1 }, { n: 2 }] }))).toEqual([count, 'mongodb insert']);
  });

  test('list of a short collection: 1 find and 1 count', async () => {
    expect(await commandsOf(run(listDocuments))).toEqual([count, 'mongodb find']);
  });

  test('list with a full page: 1 find, 2 counts for the total and 1 count', async () => {
    expect(await commandsOf(run(listDocuments, { query: 'limit=20' }))).toEqual([
      count,
      'mongodb count',
      'mongodb count',
      'mongodb find',
    ]);
  });

  test('list with a filter and a full page: 1 find, 1 total and 1 count', async () => {
    expect(await commandsOf(run(listDocuments, { query: 'limit=5&n_gte=3' }))).toEqual([
      count,
      'mongodb count',
      'mongodb find',
    ]);
  });

  test('update: 1 findAndModify and 1 count', async () => {
    const id = nextId();
    const update = run(updateDocument, { params: { ...params, id }, body: { n: 2 } });
    expect(await commandsOf(update)).toEqual([count, 'mongodb findAndModify']);
  });

  test('soft delete: 1 findAndModify and 1 count', async () => {
    const id = nextId();
    const trash = run(deleteDocument, { params: { ...params, id } });
    expect(await commandsOf(trash)).toEqual([count, 'mongodb findAndModify']);
  });

  test('permanent delete: 1 delete and 1 count', async () => {
    const id = nextId();
    const remove = run(deleteDocument, { params: { ...params, id }, query: 'permanent=true' });
    expect(await commandsOf(remove)).toEqual([count, 'mongodb delete']);
  });

  test('recover: 1 findAndModify and 1 count', async () => {
    const id = nextId();
    await run(deleteDocument, { params: { ...params, id } })();
    const recover = run(restoreDocument, { params: { ...params, id } });
    expect(await commandsOf(recover)).toEqual([count, 'mongodb findAndModify']);
  });

  test('aggregate: 1 aggregate and 1 count', async () => {
    const aggregate = run(aggregateDocuments, { body: { pipeline: [{ $count: 'n' }] } });
    expect(await commandsOf(aggregate)).toEqual([count, 'mongodb aggregate']);
  });

  test('schema: 1 count', async () => {
    expect(await commandsOf(run(getSchema))).toEqual([count]);
  });
});

test('a cold request adds one aggregation, and the next 5 seconds add no other', async () => {
  clock.now = () => frozen + 6000;
  const get = run(getDocument, { params: { ...params, id: nextId() } });
  expect(await commandsOf(get)).toEqual([count, 'mongodb aggregate', 'mongodb find']);
  clock.now = () => frozen + 10_900;
  expect(await commandsOf(get)).toEqual([count, 'mongodb find']);
  clock.now = () => frozen + 11_100;
  expect(await commandsOf(get)).toEqual([count, 'mongodb aggregate', 'mongodb find']);
});

test('a hundred concurrent cold requests share one lookup', async () => {
  clock.now = () => frozen + 20_000;
  const id = nextId();
  const commands = await commandsOf(() =>
    Promise.all(Array.from({ length: 100 }, run(getDocument, { params: { ...params, id } }))),
  );
  expect(commands.filter((command) => command === 'mongodb aggregate')).toHaveLength(1);
});
