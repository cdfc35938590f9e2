import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

/* A process that dies between an insert and the writes of its effects, on a server without transactions. */

process.env.RATE_LIMIT = '0';

let made: TestProject;
let project: Project;

beforeAll(async () => {
  made = await newProject([
    { name: 'products', schema: [{ key: 'stock', type: 'Number', min: 0 }] },
    { name: 'logs' },
    {
      name: 'orders',
      schema: [{ key: 'product', type: 'Ref', ref: 'products' }],
      effects: [
        {
          on: 'create',
          writes: [
            { op: 'update', collection: 'products', id: { $doc: 'product' }, changes: { $inc: { stock: -1 } } },
            { op: 'insert', collection: 'logs', document: { order: { $doc: '_id' } } },
          ],
        },
      ],
    },
  ]);
  project = await domainProject(made);
});

afterEach(() => {
  vi.restoreAllMocks();
});

test('an insert killed at any of its steps leaves the earlier writes, and a repeat runs none twice', async () => {
  const ends = new Set<string>();
  let passedMs = 0;
  for (let changes = 0; ; changes++) {
    const body = { stock: 5 };
    const product = String((await made.api('POST', '/api/data/products', { body })).body._id);
    const headers = { 'idempotency-key': `killed-${changes}-${product}` };
    const send = () =>
      invoke(createDocument, {
        ...{ method: 'POST', key: made.secretKey, headers },
        ...{ params: { collectionName: 'orders' }, body: { product } },
      });
    const state = async () => {
      const all = await onProject(project, async (db) => {
        const orders = await db.collection('orders').find().toArray();
        const mine = orders.filter((order) => String(order.product) === product);
        const ids = mine.map(({ _id }) => String(_id));
        const logs = (await db.collection('logs').find().toArray()).filter(({ order }) => ids.includes(String(order)));
        return [mine.length, logs.length];
      });
      const found = await made.api('GET', `/api/data/products/${product}`);
      return `${all[0]} orders, ${found.body.stock} left, ${all[1]} logs`;
    };
    const killed = killAfter(changes);
    const first = await send().catch(() => undefined);
    vi.restoreAllMocks();
    const isWhole = killed.hit() === undefined;
    const before = await state();
    ends.add(before);
    passedMs += 36_000;
    vi.spyOn(clock, 'now').mockReturnValue(Date.now() + passedMs);
    const repeat = await send();
    vi.restoreAllMocks();
    if (isWhole) expect([first?.status, repeat.status]).toEqual([201, 201]);
    else if (repeat.status === 409) expect(repeat.body.code).toBe('IDEMPOTENCY_OUTCOME_UNKNOWN');
    else expect([repeat.status, await state()]).toEqual([201, '1 orders, 4 left, 1 logs']);
    if (repeat.status === 409) expect(await state()).toBe(before);
    if (isWhole) break;
  }
  expect([...ends].sort()).toEqual([
    '0 orders, 5 left, 0 logs',
    '1 orders, 4 left, 0 logs',
    '1 orders, 4 left, 1 logs',
    '1 orders, 5 left, 0 logs',
  ]);
});
