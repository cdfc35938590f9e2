import { beforeAll, describe, expect, test } from 'vitest';
import { type App, newApp, type Person } from '../../support/fixtures/app.ts';

/* The permissions that a shop needs, with the publishable key alone. Each test is one need. */

const isStaff = { $user: { role: 'staff' } };
const own = (field: string) => ({ [field]: { $user: '_id' } });

const collections = [
  {
    name: 'products',
    schema: [
      { key: 'title', type: 'String', required: true },
      { key: 'price', type: 'Number', min: 0, required: true },
      { key: 'published', type: 'Boolean', default: false },
      { key: 'cost', type: 'Number', read: { $user: { role: 'staff' } } },
      { key: 'stock', type: 'Number', min: 0, integer: true, default: 0 },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      rules: { read: { $or: [{ published: true }, isStaff] }, create: isStaff, update: isStaff, delete: isStaff },
    },
  },
  {
    name: 'orders',
    schema: [
      { key: 'product', type: 'Ref', ref: 'products', required: true, exists: true, write: 'create' },
      { key: 'quantity', type: 'Number', min: 1, integer: true, required: true, write: 'create' },
      { key: 'price', type: 'Number', required: true, write: 'create' },
      { key: 'paid', type: 'Boolean', write: 'server', default: false },
      { key: 'status', type: 'String', enum: ['new', 'cancelled', 'sent'], default: 'new' },
      { key: 'note', type: 'String', maxLength: 100 },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'buyer',
      rules: {
        read: { $or: [own('buyer'), isStaff] },
        create: { price: { $doc: 'product.price' }, status: 'new', $ref: { product: { published: true } } },
        update: {
          before: { $or: [own('buyer'), isStaff] },
          after: {
            $or: [
              isStaff,
              { $only: ['status', 'note'], $stored: { status: 'new' }, status: { $in: ['new', 'cancelled'] } },
            ],
          },
        },
      },
    },
  },
  {
    name: 'carts',
    schema: [{ key: 'items', type: 'Array', items: { type: 'String' }, maxItems: 50 }],
    unique: [['owner']],
    rls: { enabled: true, mode: 'private', ownerField: 'owner' },
  },
  {
    name: 'reviews',
    schema: [
      { key: 'product', type: 'Ref', ref: 'products', required: true, write: 'create' },
      { key: 'stars', type: 'Number', min: 1, max: 5, integer: true, required: true },
      { key: 'text', type: 'String', maxLength: 2000 },
    ],
    unique: [['author', 'product']],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'author',
      rules: {
        read: true,
        create: {
          product: { $in: { $from: 'orders', select: 'product', where: { buyer: { $user: '_id' }, paid: true } } },
        },
        update: own('author'),
        delete: { $or: [own('author'), isStaff] },
      },
    },
  },
  {
    name: 'wishlists',
    schema: [
      { key: 'title', type: 'String' },
      { key: 'products', type: 'Array', items: { type: 'Ref', ref: 'products' } },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'owner',
      rules: {
        read: { get: true, list: own('owner') },
        create: { $user: {} },
        update: own('owner'),
        delete: own('owner'),
      },
    },
  },
  {
    name: 'coupons',
    schema: [
      { key: 'code', type: 'String', required: true, unique: true, minLength: 8 },
      { key: 'percent', type: 'Number', min: 1, max: 90 },
      { key: 'until', type: 'Date' },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      rules: {
        read: { get: { until: { $gt: { $now: 0 } } }, list: isStaff },
        create: isStaff,
        update: isStaff,
        delete: isStaff,
      },
    },
  },
  {
    name: 'redemptions',
    schema: [
      { key: 'coupon', type: 'Ref', ref: 'coupons', required: true, exists: true },
      { key: 'code', type: 'String', required: true },
    ],
    unique: [['buyer', 'coupon']],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'buyer',
      rules: {
        read: { $or: [own('buyer'), isStaff] },
        create: { code: { $doc: 'coupon.code' }, $ref: { coupon: { until: { $gt: { $now: 0 } } } } },
      },
    },
  },
  {
    name: 'tickets',
    schema: [
      { key: 'subject', type: 'String', required: true },
      { key: 'open', type: 'Boolean', default: true },
      { key: 'internal', type: 'String', read: { $user: { role: 'staff' } }, write: { $user: { role: 'staff' } } },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'buyer',
      rules: {
        read: { $or: [own('buyer'), isStaff] },
        create: { $user: {} },
        update: { $or: [own('buyer'), isStaff] },
      },
    },
  },
  {
    name: 'messages',
    schema: [
      { key: 'ticket', type: 'Ref', ref: 'tickets', required: true, exists: true },
      { key: 'text', type: 'String', required: true },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'author',
      rules: {
        read: { $or: [{ $ref: { ticket: own('buyer') } }, isStaff] },
        create: { $or: [{ $ref: { ticket: { buyer: { $user: '_id' }, open: true } } }, isStaff] },
      },
    },
  },
];

const users = [
  { key: 'role', type: 'String', write: 'server' },
  { key: 'address', type: 'String', read: 'owner' },
];

let app: App;
let staff: Person;
let buyer: Person;
let other: Person;
let product: string;
let draft: string;

const order = (more: object = {}) => ({ product, quantity: 2, price: 20, ...more });

beforeAll(async () => {
  app = await newApp(collections, users);
  [staff, buyer, other] = [await app.person({ role: 'staff' }), await app.person(), await app.person()];
  product = await staff.add('products', { title: 'Tea', price: 20, cost: 3, published: true, stock: 9 });
  draft = await staff.add('products', { title: 'Coffee', price: 30, cost: 9 });
});

describe('a shop', () => {
  test('shows published products to everyone, and drafts only to the staff', async () => {
    expect(await app.stranger.ids('products')).toEqual([product]);
    expect((await app.stranger.get('products', draft)).status).toBe(404);
    expect(await staff.ids('products')).toEqual([draft, product]);
  });

  test('hides the cost price of a product from buyers', async () => {
    expect((await app.stranger.get('products', product)).body).not.toHaveProperty('cost');
    expect((await staff.get('products', product)).body).toMatchObject({ cost: 3 });
    expect((await buyer.call('GET', 'products?cost_lt=5')).status).toBe(400);
  });

  test('lets only the staff edit products, prices and stock', async () => {
    expect(await buyer.update('products', product, { price: 1 })).toBe(403);
    expect((await buyer.insert('products', { title: 'Mine', price: 1 })).status).toBe(403);
    expect(await staff.update('products', product, { stock: 10 })).toBe(200);
    expect(await staff.update('products', product, { stock: -1 })).toBe(400);
  });

  test('does not let users make themselves staff', async () => {
    const profile = { token: (await app.project.newUser()).accessToken, body: { role: 'staff' } };
    expect((await app.project.auth('PUT', 'update-profile', profile)).status).toBe(403);
  });

  test('accepts an order only at the price of the product', async () => {
    expect(await buyer.insert('orders', order())).toMatchObject({
      status: 201,
      body: { buyer: buyer.id, paid: false },
    });
    expect((await buyer.insert('orders', order({ price: 1 }))).status).toBe(403);
    expect((await buyer.insert('orders', order({ quantity: 0 }))).status).toBe(400);
    expect((await buyer.insert('orders', order({ quantity: -1 }))).status).toBe(400);
    expect((await app.stranger.insert('orders', order())).status).toBe(401);
  });

  test('rejects an order of a draft, and one that its buyer marks as paid or sent', async () => {
    expect((await buyer.insert('orders', order({ product: draft, price: 30 }))).status).toBe(403);
    expect((await buyer.insert('orders', order({ paid: true }))).status).toBe(403);
    expect((await buyer.insert('orders', order({ status: 'sent' }))).status).toBe(403);
  });

  test('shows buyers their own orders, and the staff all orders', async () => {
    const [mine, theirs] = [await buyer.add('orders', order()), await other.add('orders', order())];
    expect(await buyer.ids('orders')).not.toContain(theirs);
    expect((await buyer.get('orders', theirs)).status).toBe(404);
    expect(await staff.ids('orders')).toEqual(expect.arrayContaining([mine, theirs]));
  });

  test('lets a buyer cancel a new order, but not change its content', async () => {
    const mine = await buyer.add('orders', order());
    expect(await buyer.update('orders', mine, { quantity: 5 })).toBe(403);
    expect(await buyer.update('orders', mine, { status: 'sent' })).toBe(403);
    expect(await buyer.update('orders', mine, { note: 'ring twice' })).toBe(200);
    expect(await buyer.update('orders', mine, { status: 'cancelled' })).toBe(200);
    expect(await buyer.update('orders', mine, { status: 'new' })).toBe(403);
  });

  test('does not let a buyer cancel an order that the staff has sent', async () => {
    const mine = await buyer.add('orders', order());
    expect(await staff.update('orders', mine, { status: 'sent' })).toBe(200);
    expect(await buyer.update('orders', mine, { status: 'cancelled' })).toBe(403);
    expect(await buyer.remove('orders', mine)).toBe(403);
  });

  test('keeps one private cart per buyer', async () => {
    await buyer.add('carts', { items: [product] });
    expect((await buyer.insert('carts', { items: [] })).status).toBe(409);
    expect(await other.ids('carts')).toEqual([]);
    expect(await other.add('carts', { items: [] })).toBeTruthy();
  });

  test('accepts one review of a product from each user who paid for it', async () => {
    const reviewer = await app.person();
    expect((await reviewer.insert('reviews', { product, stars: 5 })).status).toBe(403);
    await app.seed('orders', { ...order(), buyer: reviewer.id, paid: true, status: 'sent' });
    const review = await reviewer.add('reviews', { product, stars: 5 });
    expect((await reviewer.insert('reviews', { product, stars: 1 })).status).toBe(409);
    expect(await reviewer.update('reviews', review, { stars: 4 })).toBe(200);
    expect(await reviewer.update('reviews', review, { stars: 6 })).toBe(400);
    expect(await app.stranger.ids('reviews')).toEqual([review]);
    expect(await other.remove('reviews', review)).toBe(403);
    expect(await staff.remove('reviews', review)).toBe(200);
  });

  test('shares a wish list only by its link', async () => {
    const wishes = await buyer.add('wishlists', { title: 'Birthday', products: [product] });
    expect((await app.stranger.get('wishlists', wishes, 'populate=products')).body).toMatchObject({
      title: 'Birthday',
    });
    expect(await other.ids('wishlists')).toEqual([]);
    expect(await other.update('wishlists', wishes, { products: [] })).toBe(403);
  });

  test('hides coupons, and lets each buyer redeem one once until it expires', async () => {
    const until = (ms: number) => new Date(Date.now() + ms).toISOString();
    const coupon = await staff.add('coupons', { code: 'spring-2031', percent: 10, until: until(3_600_000) });
    const old = await staff.add('coupons', { code: 'autumn-2030', percent: 10, until: until(-1000) });
    expect(await buyer.ids('coupons')).toEqual([]);
    expect((await buyer.insert('redemptions', { coupon, code: 'wrong-code' })).status).toBe(403);
    expect((await buyer.insert('redemptions', { coupon, code: 'spring-2031' })).status).toBe(201);
    expect((await buyer.insert('redemptions', { coupon, code: 'spring-2031' })).status).toBe(409);
    expect((await other.insert('redemptions', { coupon, code: 'spring-2031' })).status).toBe(201);
    expect((await buyer.insert('redemptions', { coupon: old, code: 'autumn-2030' })).status).toBe(403);
  });

  test('keeps a conversation between a buyer and the staff', async () => {
    const ticket = await buyer.add('tickets', { subject: 'Late' });
    const asked = await buyer.add('messages', { ticket, text: 'Where is it?' });
    const answered = await staff.add('messages', { ticket, text: 'On its way.' });
    expect(await buyer.ids('messages', 'sort=createdAt')).toEqual([asked, answered]);
    expect(await other.ids('messages')).toEqual([]);
    expect((await other.insert('messages', { ticket, text: 'spam' })).status).not.toBe(201);
    expect(await staff.update('tickets', ticket, { open: false, internal: 'a regular' })).toBe(200);
    expect((await buyer.insert('messages', { ticket, text: 'more' })).status).toBe(403);
  });

  test('hides staff notes on a ticket from its buyer', async () => {
    const ticket = await buyer.add('tickets', { subject: 'Broken' });
    expect(await staff.update('tickets', ticket, { internal: 'third time' })).toBe(200);
    expect((await buyer.get('tickets', ticket)).body).not.toHaveProperty('internal');
    expect(await buyer.update('tickets', ticket, { internal: 'guess' })).toBe(403);
    expect((await buyer.call('GET', 'tickets?internal=third%20time')).status).toBe(400);
  });
});
