import { describe, expect, test } from 'vitest';
import { addEffects } from '../../console/pages/effects/add-effects.ts';
import { effectSentences } from '../../console/pages/effects/effect-sentences.ts';
import { fillTemplate, type TemplateId, templateIds, unbounded } from '../../console/pages/effects/effect-templates.ts';
import { type Collection, type EffectInput, type Field, noRowSecurity } from '../../shared/collections/collection.ts';
import { parseEffects } from '../../shared/collections/effects/parse-effects.ts';

const field = (key: string, type: Field['type'], more: Partial<Field> = {}): Field => ({
  ...{ key, type, required: false, unique: false },
  ...more,
});

const collection = (name: string, schema: readonly Field[] | null): Collection => ({
  name,
  schema,
  rls: { ...noRowSecurity, enabled: true, mode: 'private', ownerField: 'buyer' },
});

const orders = collection('orders', [
  field('product', 'Ref', { ref: 'products' }),
  field('friend', 'Ref', { ref: 'users' }),
  field('quantity', 'Number', { min: 1 }),
  field('price', 'Number'),
  field('total', 'Number'),
  field('email', 'String'),
  field('status', 'String', { enum: ['new', 'paid'] }),
  field('published', 'Boolean'),
  field('publishAt', 'Date'),
]);
const products = collection('products', [
  field('name', 'String'),
  field('price', 'Number', { min: 0 }),
  field('stock', 'Number', { min: 0 }),
  field('tags', 'Array', { items: { type: 'String' } }),
]);
const users = collection('users', [field('email', 'String'), field('plan', 'String')]);
const known = [orders, products, users];

const said = (effect: EffectInput): string => {
  const { when, does } = effectSentences(effect, orders, known);
  return [when, ...does].join(' ');
};

const id = { $doc: 'product' };
const update = (changes: object, more: object = {}) => ({
  on: 'create',
  writes: [{ op: 'update', collection: 'products', id, changes, ...more }],
});
const has = { product: { $ne: null } };
const open = { ...has, published: { $ne: true } };
const closed = { $or: [{ product: null }, { published: true }] };
const count = (stock: number, to: object = id) => ({
  ...{ op: 'update', collection: 'products', id: to, changes: { $inc: { stock } } },
});
const created = 'When a document is created:';

describe('an effect in plain English', () => {
  test.each<[EffectInput, string]>([
    [{ on: 'create', set: { price: { $doc: 'product.price' } } }, `${created} Copy \`price\` from \`product\`.`],
    [
      { on: 'create', set: { total: { $multiply: [{ $doc: 'product.price' }, { $doc: 'quantity' }] } } },
      `${created} Set \`total\` to \`price\` of \`product\` × \`quantity\`.`,
    ],
    [
      { on: 'create', set: { total: { $round: { $divide: [{ $add: [{ $doc: 'price' }, 1] }, 2] } } } },
      `${created} Set \`total\` to the rounded value of (\`price\` + 1) ÷ 2.`,
    ],
    [
      { on: ['create', 'update'], set: { price: { $add: [{ $stored: 'price' }, 1] }, email: { $user: 'email' } } },
      'When a document is created or updated: Set `price` to `price` before the update + 1. Set `email` to the user’s `email`.',
    ],
    [
      {
        on: 'create',
        set: { email: { $lower: { $concat: ['s-', { $doc: 'status' }] } }, publishAt: { $now: 3600000 } },
      },
      `${created} Set \`email\` to the joined texts of "s-", \`status\` in lower case. Set \`publishAt\` to 1 hour from now.`,
    ],
    [
      update({ $inc: { stock: { $minus: { $doc: 'quantity' } } } }),
      `${created} Reduce \`stock\` of \`product\` by \`quantity\`.`,
    ],
    [update({ $inc: { stock: 1 } }), `${created} Increase \`stock\` of \`product\` by 1.`],
    [update({ $inc: { stock: -1 } }), `${created} Reduce \`stock\` of \`product\` by 1.`],
    [
      update({ name: 'x', $addToSet: { tags: { $doc: 'status' } } }),
      `${created} Set \`name\` of \`product\` to "x". Add \`status\` to \`tags\` of \`product\`.`,
    ],
    [update({ $unset: ['name'] }), `${created} Remove \`name\` of \`product\`.`],
    [
      update({ $inc: { stock: 1 } }, { where: { stock: { $gte: 1 } } }),
      `${created} Increase \`stock\` of \`product\` by 1. Reject the write unless there \`stock\` is at least 1.`,
    ],
    [
      { on: 'delete', writes: [{ op: 'insert', collection: 'log', document: { order: { $doc: '_id' } } }] },
      'When a document is deleted: Insert a document into `log` with `order`: its id.',
    ],
    [
      {
        on: 'create',
        writes: [
          { op: 'delete', collection: 'products', id: 'a1' },
          { op: 'check', collection: 'products', id },
        ],
      },
      `${created} Move the document "a1" of \`products\` to the trash. Reject the write unless \`product\` exists.`,
    ],
    [
      { on: 'create', where: { $user: {} }, mail: { template: 'thanks', to: { $user: 'email' } } },
      'When a document is created, if the user is signed in: Send the email `thanks` to the user who writes, if their address is verified.',
    ],
    [
      {
        on: 'update',
        where: { before: { status: 'new' }, after: { status: 'paid' } },
        mail: { template: 'paid', to: 'a@b.de' },
      },
      'When a document is updated, if `status` is "new" before the update, and `status` is "paid" after it: Send the email `paid` to a@b.de.',
    ],
    [
      { on: 'create', mail: { template: 'x', to: { $emailOf: 'friend' } }, trusted: true },
      `${created} Send the email \`x\` to the user in \`friend\`, if their address is verified. It reads with the rights of your server.`,
    ],
    [{ at: 'publishAt', set: { published: true } }, 'At the time in `publishAt`: Set `published` to true.'],
  ])('%j', (effect, sentence) => {
    expect(said(effect)).toBe(sentence);
  });

  test('names the parts that it cannot explain', () => {
    expect(said({ on: 'never', where: { $x: 1 }, set: { total: { $power: 2 } }, writes: [1], mail: {} })).toBe(
      'When it is not clear, if its condition is true: Set `total` as its JSON says. Write another document as its JSON says. Send an email as its JSON says.',
    );
  });
});

const sources = { collection: orders, known, mails: ['order-confirmation'] };

describe('a template', () => {
  test.each<[TemplateId, Record<string, string>, readonly EffectInput[]]>([
    ['copy', { from: 'product.price', to: 'price' }, [{ on: 'create', set: { price: { $doc: 'product.price' } } }]],
    [
      'total',
      { to: 'total', first: 'product.price', second: 'quantity', on: 'create update' },
      [
        {
          on: ['create', 'update'],
          set: { total: { $multiply: [{ $doc: 'product.price' }, { $doc: 'quantity' }] } },
        },
      ],
    ],
    [
      'counter',
      { field: 'stock', change: 'keep' },
      [
        { on: 'create', where: has, writes: [count(1)] },
        { on: 'delete', where: has, writes: [count(-1)] },
      ],
    ],
    [
      'counter',
      { field: 'stock' },
      [
        { on: 'create', where: has, writes: [count(1)] },
        { on: 'delete', where: has, writes: [count(-1)] },
        {
          on: 'update',
          where: { before: has, after: { $and: [has, { product: { $ne: { $stored: 'product' } } }] } },
          writes: [count(-1, { $stored: 'product' }), count(1)],
        },
        { on: 'update', where: { before: { product: null }, after: has }, writes: [count(1)] },
        { on: 'update', where: { before: has, after: { product: null } }, writes: [count(-1, { $stored: 'product' })] },
      ],
    ],
    [
      'counter',
      { field: 'stock', only: 'not published true', change: 'keep' },
      [
        { on: 'create', where: open, writes: [count(1)] },
        { on: 'delete', where: open, writes: [count(-1)] },
        {
          on: 'update',
          where: { before: open, after: { $and: [open, { product: { $ne: { $stored: 'product' } } }] } },
          writes: [count(-1, { $stored: 'product' }), count(1)],
        },
        { on: 'update', where: { before: closed, after: open }, writes: [count(1)] },
        { on: 'update', where: { before: open, after: closed }, writes: [count(-1, { $stored: 'product' })] },
      ],
    ],
    [
      'stock',
      { field: 'stock', by: 'quantity' },
      [
        update({ $inc: { stock: { $minus: { $doc: 'quantity' } } } }),
        { ...update({ $inc: { stock: { $doc: 'quantity' } } }), on: 'delete' },
      ],
    ],
    ['stock', { field: 'stock', by: '1', back: 'no' }, [update({ $inc: { stock: -1 } })]],
    ['mail', {}, [{ on: 'create', mail: { template: 'order-confirmation', to: { $user: 'email' } } }]],
    [
      'mail',
      { to: 'doc email', on: 'update' },
      [{ on: 'update', mail: { template: 'order-confirmation', to: { $doc: 'email', open: true } } }],
    ],
    [
      'mail',
      { to: 'emailOf buyer' },
      [{ on: 'create', mail: { template: 'order-confirmation', to: { $emailOf: 'buyer' } } }],
    ],
    ['at', { to: 'published', value: 'true' }, [{ at: 'publishAt', set: { published: true } }]],
    ['at', { to: 'status', value: 'paid' }, [{ at: 'publishAt', set: { status: 'paid' } }]],
    ['at', { to: 'price', value: '2.5' }, [{ at: 'publishAt', set: { price: 2.5 } }]],
    [
      'mail',
      { to: 'address', address: 'a@b.de' },
      [{ on: 'create', mail: { template: 'order-confirmation', to: 'a@b.de' } }],
    ],
  ])('%s with %j makes effects that the service accepts', (name, values, wanted) => {
    const { effects, lacks } = fillTemplate(name, sources, values);
    expect(lacks).toBeUndefined();
    expect(effects).toEqual(wanted);
    const byName = new Map(known.map((each) => [each.name, each]));
    expect(parseEffects({ ...orders, effects }, byName)).toHaveLength(effects.length);
  });

  const startOf = (name: TemplateId, from: typeof sources, values = {}) =>
    Object.fromEntries(fillTemplate(name, from, values).questions.map((question) => [question.name, question.value]));

  test('offers each pair of fields that fits, and starts with one of the same name', () => {
    const { questions } = fillTemplate('copy', sources, { from: 'gone.price' });
    expect(questions.map(({ value }) => value)).toEqual(['product.price', 'price', 'create']);
    expect(questions[0]?.options?.map(([value]) => value)).toEqual(['product.name', 'product.price', 'product.stock']);
    expect(startOf('copy', sources, { from: 'product.name' })).toMatchObject({ from: 'product.name', to: 'email' });
  });

  test('copies a number when the first field of the other collection fits no field', () => {
    const fields = [field('product', 'Ref', { ref: 'products' }), field('quantity', 'Number'), field('cost', 'Number')];
    const few = { ...sources, collection: collection('orders', fields) };
    expect(fillTemplate('copy', few, {}).lacks).toBeUndefined();
    expect(startOf('copy', few)).toMatchObject({ from: 'product.price', to: 'quantity' });
    const none = { ...sources, collection: collection('orders', fields.slice(0, 1)) };
    expect(fillTemplate('copy', none, {}).lacks).toBe('to');
  });

  test('starts with fields whose names suit it', () => {
    expect(startOf('stock', sources)).toMatchObject({ field: 'stock', by: 'quantity' });
    expect(startOf('total', sources)).toMatchObject({ to: 'total', first: 'price', second: 'quantity' });
  });

  test('names what the collection lacks', () => {
    const free = { ...sources, collection: collection('notes', null), mails: [] };
    expect(templateIds.map((name) => fillTemplate(name, free, {}).lacks)).toEqual([
      ...['from', 'to', 'ref', 'ref', 'template', 'field'],
    ]);
  });

  test('warns of a stock that may become negative', () => {
    expect(unbounded('stock', sources, { ref: 'product', field: 'stock' })).toBeUndefined();
    const open = { ...sources, known: [orders, collection('products', [field('stock', 'Number')])] };
    expect(unbounded('stock', open, { ref: 'product', field: 'stock' })).toBe('products.stock');
  });
});

describe('an added effect', () => {
  const copy = { on: 'create', set: { price: { $doc: 'product.price' } } };
  const stock = update({ $inc: { stock: -1 } });
  const mail = { on: 'create', mail: { template: 'x', to: { $user: 'email' } } };

  test('joins the last one of the same kind of write', () => {
    expect(addEffects([copy], [stock, mail])).toEqual([{ ...copy, ...stock, ...mail }]);
  });

  test.each<[string, EffectInput, EffectInput]>([
    ['it reads what the other sets', copy, { on: 'create', set: { total: { $add: [{ $doc: 'price' }, 1] } } }],
    ['both set one field', copy, { on: 'create', set: { price: 1 } }],
    ['both send an email', mail, mail],
    ['the other has a condition', { ...copy, where: { status: 'new' } }, stock],
    ['it runs after other writes', copy, { ...stock, on: 'delete' }],
    [
      'it runs at a time',
      { at: 'publishAt', set: { published: true } },
      { at: 'publishAt', set: { published: false } },
    ],
  ])('stays apart when %s', (_title, one, other) => {
    expect(addEffects([one], [other])).toEqual([one, other]);
  });
});
