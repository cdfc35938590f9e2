import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type OpenPage, obstacles, openChromium } from '../support/clients/chromium.ts';
import { openAs } from '../support/clients/console-page.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

let browser: Awaited<ReturnType<typeof openChromium>>;
let project: TestProject;
let cup: string;
let opened: OpenPage;
let page: Page;

const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });

beforeAll(async () => {
  const products = { name: 'products', schema: [number('price', { min: 0 }), number('stock', { min: 0 })] };
  [browser, project] = await Promise.all([openChromium(), newProject([products])]);
  await project.addCollection({
    name: 'orders',
    schema: [
      { key: 'product', type: 'Ref', ref: 'products' },
      number('quantity', { min: 1 }),
      number('price'),
      number('total'),
      { key: 'note', type: 'String' },
    ],
  });
  const template = { name: 'Order confirmation', key: 'order-confirmation', subject: 'Your order', text: 'Thanks' };
  await project.developer.dashboard('POST', `/api/projects/${project.id}/mail/templates`, template);
  const make = async (name: string, body: object) =>
    (await project.api<{ _id: string }>('POST', `/api/data/${name}`, { body })).body._id;
  cup = await make('products', { price: 10, stock: 3 });
  await make('orders', { product: cup, quantity: 2, note: 'Two cups' });
  opened = await openAs(browser, project.developer, `/projects/${project.id}/documents/orders/effects`);
  page = opened.page;
});

afterAll(() => browser.close());

const saved = async (): Promise<unknown> => {
  const path = `/api/projects/${project.id}/collections/orders`;
  return (await project.developer.dashboard<{ data: { effects?: unknown } }>('GET', path)).body.data.effects;
};
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const save = () => press('Save');
const effect = (place: number) => page.getByRole('listitem', { name: `Effect ${place}`, exact: true });

/** Adds a template and fills its form by label. */
const add = async (title: string, answers: Readonly<Record<string, string>>) => {
  await page.getByRole('button', { name: title }).click();
  const dialog = page.getByRole('dialog', { name: title });
  for (const [label, answer] of Object.entries(answers)) await dialog.getByLabel(label).selectOption(answer);
  const preview = await dialog.getByRole('region', { name: 'JSON of the effect' }).textContent();
  expect(await obstacles(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  return preview ?? '';
};

const stockOf = (quantity: object) => ({
  op: 'update',
  collection: 'products',
  id: { $doc: 'product' },
  changes: { $inc: { stock: quantity } },
});
const wanted = [
  {
    on: 'create',
    set: { price: { $doc: 'product.price' }, total: { $multiply: [{ $doc: 'product.price' }, { $doc: 'quantity' }] } },
    writes: [stockOf({ $minus: { $doc: 'quantity' } })],
    mail: { template: 'order-confirmation', to: { $user: 'email' } },
  },
  { on: 'delete', writes: [stockOf({ $doc: 'quantity' })] },
];

describe('the effects of a collection', () => {
  test('are created from templates, explained in plain English and saved', async () => {
    await page.getByText('No effects yet. Add one from a template.').waitFor();
    const preview = await add('Copy a field', {});
    expect(JSON.parse(preview)).toEqual({ on: 'create', set: { price: { $doc: 'product.price' } } });
    await effect(1).getByText('Copy price from product.').waitFor();
    await add('Compute a total', { 'First number': 'product.price' });
    await effect(1).getByText('Set total to price of product × quantity.').waitFor();
    await add('Decrease stock', {});
    await effect(1).getByText('Reduce stock of product by quantity.').waitFor();
    await effect(2).getByText('When a document is deleted:').waitFor();
    await add('Send an email', { Template: 'order-confirmation' });
    await effect(1).getByText('Send the email order-confirmation to the user who writes').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(await saved()).toBeUndefined();
    await save();
    await page.getByText('Effects saved.').waitFor();
    expect(await saved()).toEqual(wanted);
    expect(opened.problems).toEqual([]);
  });

  test('dry run shows what they do with a document, and changes nothing', async () => {
    const run = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Dry run' }) });
    const result = run.getByRole('status');
    const product = async () => (await project.api('GET', `/api/data/products/${cup}`)).body;
    const before = await product();
    await run.getByLabel('Document', { exact: true }).locator('option', { hasText: 'Two cups (newest)' }).waitFor({
      state: 'attached',
    });
    await run.getByRole('button', { name: 'Run', exact: true }).click();
    await result.getByText('The write would succeed').waitFor();
    await expect.poll(() => result.textContent()).toMatch(/total:\s+20/);
    expect(await result.textContent()).toMatch(/stock:\s+3\s+becomes\s+1/);
    expect(await result.textContent()).toContain('Email order-confirmation is not sent.');
    expect(await obstacles(page)).toEqual([]);
    await run.getByLabel('If this document is').selectOption('delete');
    await run.getByRole('button', { name: 'Run', exact: true }).click();
    await expect.poll(() => result.textContent()).toMatch(/stock:\s+3\s+becomes\s+5/);
    await run.getByLabel('If this document is').selectOption('create');
    await run.getByLabel('Document', { exact: true }).selectOption('json');
    await run.getByLabel('Document as JSON').fill('[]');
    await run.getByRole('button', { name: 'Run', exact: true }).click();
    await run.getByText('This must be a JSON object').waitFor();
    await run.getByLabel('Document as JSON').fill(JSON.stringify({ product: cup, quantity: 4 }));
    await run.getByRole('button', { name: 'Run', exact: true }).click();
    await result.getByText('409 EFFECT_REFUSED').waitFor();
    await result.getByText('stock must be at least 0').first().waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(await product()).toEqual(before);
    expect(opened.problems).toEqual([]);
  });

  test('offer to create the field that a template lacks', async () => {
    const name = { key: 'name', type: 'String' };
    await project.addCollection({ name: 'makers', schema: [name] });
    await project.addCollection({ name: 'goods', schema: [{ key: 'maker', type: 'Ref', ref: 'makers' }, name] });
    const schemaIn = async (collection: string) => {
      const path = `/api/projects/${project.id}/collections/${collection}`;
      return (await project.developer.dashboard<{ data: { schema: unknown } }>('GET', path)).body.data.schema;
    };
    await page.goto(page.url().replace('/orders/', '/goods/'));
    await page.getByRole('button', { name: 'Keep a counter' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This needs a field of a fitting type.').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add goodsCount (Number) to makers' }).click();
    const preview = dialog.getByRole('region', { name: 'JSON of the effect' });
    await preview.getByText('"goodsCount": 1').or(preview.getByText('{"goodsCount":1}')).waitFor();
    await dialog.getByText('Documents that already have a maker are not counted, so').waitFor();
    expect(await schemaIn('makers')).toMatchObject([name, { key: 'goodsCount', type: 'Number' }]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Copy a field' }).click();
    await dialog.getByText('Users can no longer set name').waitFor();
    await dialog.getByRole('button', { name: 'Add makerName (String) to goods' }).click();
    await dialog.getByText('Users can no longer set makerName').waitFor();
    expect(await schemaIn('goods')).toMatchObject([{ key: 'maker' }, name, { key: 'makerName', type: 'String' }]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.goto(page.url().replace('/goods/', '/orders/'));
    await page.getByRole('listitem', { name: 'Effect 2', exact: true }).waitFor();
    expect(opened.problems).toEqual([]);
  });

  test('stay reachable as JSON, and errors and hints are shown at the effect they name', async () => {
    await press('Edit as JSON: effect 2');
    const editor = effect(2).getByRole('textbox', { name: 'Effect 2 as JSON' });
    await editor.fill('{"on": "delete"');
    await effect(2).getByText('An effect must be a JSON object').waitFor();
    await editor.fill('{"on": "create", "set": {"nothing": 1}}');
    await effect(2).getByText('Set nothing to 1.').waitFor();
    await save();
    await effect(2).getByText('effects.1.set.nothing names a field that "orders" does not have.').first().waitFor();
    expect(await saved()).toEqual(wanted);
    await editor.fill('{"on": "update", "set": {"total": {"$doc": "price"}}}');
    expect(await obstacles(page)).toEqual([]);
    await save();
    await effect(2).getByText('a Number without min, which may be negative').waitFor();
    expect(await saved()).toEqual([wanted[0], { on: 'update', set: { total: { $doc: 'price' } } }]);
    await press('Move up: effect 2');
    await effect(1).getByText('When a document is updated:').waitFor();
    await press('Remove: effect 1');
    await press('Remove: effect 1');
    await save();
    await expect.poll(saved).toBeUndefined();
    expect(opened.problems).toEqual([]);
  });

  test('dry run shows what happens at the times of a document', async () => {
    const at = { at: 'publishAt', where: { title: 'Soon' }, set: { isPublic: true } };
    const schema = [
      { key: 'title', type: 'String' },
      { key: 'isPublic', type: 'Boolean' },
      { key: 'publishAt', type: 'Date' },
    ];
    await project.addCollection({ name: 'posts', schema, effects: [at, { ...at, where: { title: 'Other' } }] });
    await project.api('POST', '/api/data/posts', { body: { title: 'Soon', publishAt: '2100-01-02T03:04:00Z' } });
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/posts/effects`);
    const run = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Dry run' }) });
    const result = run.getByRole('status');
    await run.getByRole('button', { name: 'Run', exact: true }).click();
    await result.getByText('Runs at its time').first().waitFor();
    await run.getByLabel('If this document is').selectOption('at');
    await run.getByText('Effects at a time run with the rights of the owner').waitFor();
    await run.getByRole('button', { name: 'Run', exact: true }).click();
    await result.getByText('Condition not met').waitFor();
    expect(await result.textContent()).toMatch(/Due:\s+2100-01-02.*isPublic:\s+true/s);
    expect(await result.textContent()).not.toContain('The write would succeed');
    expect(await obstacles(page)).toEqual([]);
  });

  test('name what a template needs', async () => {
    await page.goto(`${inject('stack').dashboardUrl}/projects/${project.id}/documents/products/effects`);
    await page.getByRole('button', { name: 'Copy a field' }).click();
    await page.getByRole('dialog').getByText('This needs a Ref field that points to another collection.').waitFor();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
  });
});

test.each(['light', 'dark'] as const)(
  'the page has no obstacles and no overflow in the %s theme',
  async (colorScheme) => {
    const path = `/api/projects/${project.id}/collections/orders`;
    await project.developer.dashboard('PUT', path, { effects: wanted });
    const at = `/projects/${project.id}/documents/orders/effects`;
    const { page: themed, problems } = await openAs(browser, project.developer, at, { colorScheme });
    await themed.getByText('Copy price from product.').waitFor();
    await themed.getByRole('button', { name: 'Run', exact: true }).click();
    await themed.getByText('The write would succeed').waitFor();
    for (const width of [390, 1440]) {
      await themed.setViewportSize({ width, height: 900 });
      expect(await themed.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(await obstacles(themed)).toEqual([]);
    }
    expect(problems).toEqual([]);
  },
);
