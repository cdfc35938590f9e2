import { beforeAll, describe, expect, test } from 'vitest';
import { runCollectionEffects } from '../../../shared/documents/effects/run-effects.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { mailAbout } from '../../support/clients/inbox.ts';
import { runGuide } from '../../support/fixtures/guide.ts';
import { changeStoredUsers } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* The code blocks of two guides create the collections; the shop must hold for the publishable key. */

let project: UsersProject;
let answers: readonly string[];
let ann: RequestOptions;

type Doc = Readonly<Record<string, unknown>> & { readonly _id: string };

const api = <Body = Doc>(method: string, at: string, who?: RequestOptions, body?: unknown) =>
  project.api<Body>(method, `/api/data/${at}`, { ...who, ...(body === undefined ? {} : { body }) });

beforeAll(async () => {
  project = await newUsersProject();
  const computed = await runGuide('guides/effects.md', project);
  const later = await runGuide('guides/timed-and-mail-effects.md', project);
  answers = [...computed.answers, ...later.answers];
  ann = { key: project.publishableKey, token: (await project.newUser()).accessToken };
});

describe('the guides to effects', () => {
  test('have only blocks that succeed, without hints', () => {
    expect(answers).toHaveLength(10);
    expect(answers.filter((answer) => !answer.startsWith('{"success":true'))).toEqual([]);
    expect(answers.slice(0, 4).filter((answer) => answer.includes('"hints"'))).toEqual([]);
  });

  test('50 buyers of a shop get the price and total of the product, and cannot send their own', async () => {
    const product = (await api('POST', 'goods', {}, { name: 'Cup', price: 12.5 })).body._id;
    const quantities = Array.from({ length: 50 }, (_each, index) => (index % 5) + 1);
    const made = await Promise.all(quantities.map((quantity) => api('POST', 'purchases', ann, { product, quantity })));
    expect(made.map(({ status, body }) => [status, body.price, body.total])).toEqual(
      quantities.map((quantity) => [201, 12.5, 12.5 * quantity]),
    );
    for (const forged of [{ price: 1 }, { total: 1 }, { buyer: 'x' }, { status: 'paid' }, { paidAt: null }]) {
      expect(await api('POST', 'purchases', ann, { product, quantity: 1, ...forged })).toMatchObject({
        status: 403,
        body: { code: 'FIELD_PROTECTED' },
      });
    }
  });

  test('50 buyers of 20 pieces get 20 sales, and a canceled sale gives its pieces back', async () => {
    const product = (await api('POST', 'stocked', {}, { price: 3, stock: 20 })).body._id;
    const sold = await Promise.all(
      Array.from({ length: 50 }, () => api('POST', 'sales', ann, { product, quantity: 1 })),
    );
    const made = sold.filter(({ status }) => status === 201);
    expect(made.map(({ body }) => body.total)).toEqual(Array.from({ length: 20 }, () => 3));
    expect(sold.filter(({ status, body }) => status === 409 && body.code === 'EFFECT_REFUSED')).toHaveLength(30);
    const stock = async () => (await api('GET', `stocked/${product}`)).body.stock;
    expect(await stock()).toBe(0);
    expect((await api('DELETE', `sales/${made[0]?.body._id}`, ann)).status).toBe(200);
    expect(await stock()).toBe(1);
    expect(await api('PATCH', `stocked/${product}`, ann, { stock: 9 })).toMatchObject({ status: 403 });
  });

  test('50 concurrent comments are counted, and a deleted one is not', async () => {
    const entry = (await api('POST', 'entries', ann, { title: 'Hello' })).body._id;
    const write = () => api('POST', 'remarks', ann, { entry, text: 'Nice' });
    const made = await Promise.all(Array.from({ length: 50 }, write));
    const written = made.filter(({ status }) => status === 201);
    // Many writers of one document may be told to retry.
    expect(made.filter(({ status }) => status !== 201 && status !== 503)).toEqual([]);
    const count = async () => (await api('GET', `entries/${entry}`, ann)).body.comments;
    expect(await count()).toBe(written.length);
    await api('DELETE', `remarks/${written[0]?.body._id}`, ann);
    expect(await count()).toBe(written.length - 1);
    expect((await api('PATCH', `entries/${entry}`, ann, { comments: 9 })).status).toBe(403);
  });

  test('a buyer with a verified address gets the confirmation', async () => {
    const { email, accessToken } = await project.newUser();
    await changeStoredUsers(project, { email }, { emailVerified: true });
    const buyer = { key: project.publishableKey, token: accessToken };
    const order = await api('POST', 'confirmed', buyer, { quantity: 3 });
    const mail = await mailAbout(email, /^Your order of 3 pieces$/);
    expect(mail.text).toBe(`Thank you! The total is 15. Order ${order.body._id}`);
  });

  test('paying sets paidAt once', async () => {
    const product = (await api('POST', 'goods', {}, { name: 'Pen', price: 2 })).body._id;
    const order = (await api('POST', 'purchases', ann, { product, quantity: 1 })).body;
    expect(order.paidAt).toBeUndefined();
    const pay = () => api<{ data: Doc }>('PATCH', `purchases/${order._id}`, {}, { status: 'paid' });
    const { paidAt } = (await pay()).body.data;
    expect(paidAt).toEqual(expect.any(String));
    expect((await pay()).body.data.paidAt).toBe(paidAt);
  });

  test('an article keeps its slug and counts its edits', async () => {
    const made = await api('POST', 'articles', ann, { title: 'Hello World' });
    expect(made.body).toMatchObject({ slug: 'hello world', edits: 1 });
    const changed = await api('PATCH', `articles/${made.body._id}`, ann, { title: 'Bye' });
    expect(changed.body).toMatchObject({ data: { slug: 'bye', edits: 2 } });
  });

  test('a post is published at its time, and only its author sees it before', async () => {
    const bob = { key: project.publishableKey, token: (await project.newUser()).accessToken };
    const post = (more: object) => api('POST', 'planned', ann, { title: 'News', status: 'scheduled', ...more });
    const [past, future] = [new Date(Date.now() - 1000), new Date(Date.now() + 3600_000)];
    const due = (await post({ publishAt: past })).body._id;
    const later = (await post({ publishAt: future })).body._id;
    await runCollectionEffects(project.id, 'planned');
    await eventually(async () => expect((await api('GET', `planned/${due}`, bob)).body.status).toBe('published'));
    expect((await api('GET', `planned/${later}`, bob)).status).toBe(404);
    expect((await api('GET', `planned/${later}`, ann)).body.status).toBe('scheduled');
  });
});
