import { beforeAll, describe, expect, test } from 'vitest';
import { runGuide } from '../../support/fixtures/guide.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

/* The code blocks of docs/guides/keep-data-consistent.md create these collections. */

let project: TestProject;
let text: string;
let answers: readonly string[];

const insert = (collection: string, body: unknown) =>
  project.api<{ _id: string; message: string }>('POST', `/api/data/${collection}`, { body });

beforeAll(async () => {
  project = await newProject();
  ({ text, answers } = await runGuide('guides/keep-data-consistent.md', project));
});

describe('the guide to consistent data', () => {
  test('has only blocks that succeed, and at most 7 KB', () => {
    expect(answers.length).toBeGreaterThanOrEqual(4);
    expect(answers.filter((answer) => !answer.startsWith('{"success":true'))).toEqual([]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(7 * 1024);
  });

  test('bounds: a product keeps within them', async () => {
    const product = { name: 'Chair', stock: 3, state: 'sold', tags: ['new'] };
    expect(await insert('products', product)).toMatchObject({ status: 201 });
    expect(await insert('products', { ...product, stock: -1 })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', message: 'Validation failed: stock must be at least 0' },
    });
    for (const wrong of [{ name: '' }, { name: 'x'.repeat(61) }, { stock: 0.5 }, { stock: 1001 }, { state: 'gone' }]) {
      expect((await insert('products', { ...product, ...wrong })).status, JSON.stringify(wrong)).toBe(400);
    }
  });

  test('closed: an order accepts no other fields', async () => {
    const { body } = await insert('products', { name: 'Table' });
    const order = { product: body._id, address: { city: 'Bern' }, note: { any: 1 } };
    expect((await insert('deliveries', order)).status).toBe(201);
    const failed = await insert('deliveries', { ...order, prodcut: 1 });
    expect(failed).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(failed.body.message).toContain('prodcut is not a field of "deliveries"');
    expect((await insert('deliveries', { ...order, address: { zip: '3000' } })).status).toBe(400);
  });

  test('unique lists and references: a user redeems a coupon once, for a product that cannot be deleted', async () => {
    const product = (await insert('products', { name: 'Lamp' })).body._id;
    const redemption = { userId: 'a'.repeat(24), coupon: 'spring', receipt: 'Ab', product };
    expect((await insert('redemptions', redemption)).status).toBe(201);
    for (const again of [{ receipt: 'other' }, { coupon: 'summer', receipt: 'aB' }]) {
      expect(await insert('redemptions', { ...redemption, ...again })).toMatchObject({ status: 409 });
    }
    const other = { userId: 'b'.repeat(24), coupon: 'spring' };
    expect((await insert('redemptions', { ...other, product: '1'.repeat(24) })).status).toBe(400);
    expect((await insert('redemptions', { ...other, product })).status).toBe(201);
    expect(await project.api('DELETE', `/api/data/products/${product}`)).toMatchObject({
      status: 409,
      body: { code: 'STILL_REFERENCED' },
    });
  });

  test('deletions: reviews are trashed and restored with their product, and lose the link to an order', async () => {
    const product = (await insert('products', { name: 'Desk' })).body._id;
    const order = (await insert('deliveries', { product, address: { city: 'Bern' } })).body._id;
    const review = (await insert('reviews', { product, order })).body._id;
    const read = () => project.api<{ order?: string }>('GET', `/api/data/reviews/${review}`);
    expect((await project.api('DELETE', `/api/data/products/${product}`)).status).toBe(200);
    expect((await read()).status).toBe(404);
    expect((await project.api('PATCH', `/api/data/products/${product}/recover`)).status).toBe(200);
    expect(await read()).toMatchObject({ status: 200, body: { order } });
    expect((await project.api('DELETE', `/api/data/deliveries/${order}?permanent=true`)).status).toBe(200);
    expect((await read()).body).not.toHaveProperty('order');
  });
});
