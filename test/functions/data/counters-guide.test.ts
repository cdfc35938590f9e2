import { beforeAll, describe, expect, test } from 'vitest';
import { inParallel, tally } from '../../support/clients/client.ts';
import { runGuide } from '../../support/fixtures/guide.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

/* The code blocks of docs/guides/counters-and-stock.md create the collection. */

let project: TestProject;
let text: string;
let answers: readonly string[];

beforeAll(async () => {
  project = await newProject();
  ({ text, answers } = await runGuide('guides/counters-and-stock.md', project));
});

const insert = async (body: object) =>
  (await project.api<{ _id: string }>('POST', '/api/data/wares', { body })).body._id;
const update = (id: string, body: unknown) => project.api('PATCH', `/api/data/wares/${id}`, { body });

describe('the guide to counters and stock', () => {
  test('has only blocks that succeed, and at most 6 KB', () => {
    expect(answers.length).toBeGreaterThanOrEqual(5);
    expect(answers.filter((answer) => !answer.startsWith('{"success":true'))).toEqual([]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6 * 1024);
  });

  test('sells no more than the stock when 50 buyers order concurrently', async () => {
    const id = await insert({ name: 'Table', stock: 20 });
    const answers = await inParallel(50, () => update(id, { $inc: { stock: -1, sold: 1 } }));
    expect(tally(answers)).toEqual({ 200: 20, 400: 30 });
    expect(await project.api('GET', `/api/data/wares/${id}`)).toMatchObject({ body: { stock: 0, sold: 20 } });
  });

  test('its joint writes sell one piece with an order and its item, and add an item of an open order', async () => {
    const { body: wares } = await project.api<{ data: { items: { _id: string; name: string }[] } }>(
      'GET',
      '/api/data/wares?name=Chair',
    );
    const [chair] = wares.data.items;
    // One piece was sold before, by a single update.
    expect(chair).toMatchObject({ stock: 18, sold: 1, tags: ['sale', 'seen'] });
    const { body } = await project.api<{ data: { items: { _id: string; total: number; open: boolean }[] } }>(
      'GET',
      '/api/data/orders?sort=_id',
    );
    expect(body.data.items).toMatchObject([
      { total: 40, open: true },
      { total: 5, open: true },
    ]);
    const items = await project.api<{ data: { items: object[] } }>('GET', '/api/data/orderItems');
    const item = { order: body.data.items[0]?._id, ware: chair?._id };
    expect(items.body.data.items).toMatchObject([item, item]);
  });

  test('every example of the table is an update that succeeds', async () => {
    const id = await insert({ name: 'Lamp', stock: 1, lines: [{ sku: 'a' }], meta: { note: 'x' }, log: [] });
    const examples = [...text.matchAll(/`(\{"\$\w+":.*?\})`[,| ]/g)].map(([, json = '']) => json);
    expect(examples.length).toBeGreaterThanOrEqual(8);
    for (const example of examples.filter((json) => !/credits|\$only/.test(json)))
      expect(await update(id, example), example).toMatchObject({ status: 200 });
  });
});
