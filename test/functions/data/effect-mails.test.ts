import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { type MailLog, mailLogs } from '../../../shared/mail/log.ts';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';
import { inParallel, type RequestOptions } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { mailAbout, mailsTo } from '../../support/clients/inbox.ts';
import { newProviderKey } from '../../support/fixtures/mail-project.ts';
import { changeStoredUsers } from '../../support/fixtures/stored-users.ts';
import { heldImport, idOf } from '../../support/fixtures/transfers.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* Effects of a collection send emails after documents were written. */

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const rls = { enabled: true, mode: 'private' };
const shop = 'orders@shop.example';
const template = 'order-confirmation';
const toUser = { template, to: { $user: 'email' } };
const toOpen = { template, to: { $doc: 'address', open: true } };
const schema = [
  text('title'),
  number('quantity', { min: 1 }),
  number('total'),
  text('note', { read: 'server' }),
  text('address'),
  { key: 'friend', type: 'Ref', ref: 'users' },
  text('status'),
];

const collections = [
  {
    name: 'orders',
    effects: [{ on: 'create', set: { total: { $multiply: [{ $doc: 'quantity' }, 2] } }, mail: toUser }],
  },
  { name: 'owned', effects: [{ on: 'create', mail: { template, to: { $emailOf: 'userId' } } }] },
  { name: 'shared', effects: [{ on: 'create', mail: { template, to: { $emailOf: 'friend' } } }] },
  { name: 'fixed', effects: [{ on: 'create', where: { status: 'new' }, mail: { template, to: shop } }] },
  {
    name: 'open',
    effects: [{ on: 'create', mail: toOpen }],
    rls: { enabled: true, mode: 'rules', rules: { create: true } },
  },
  { name: 'late', effects: [{ on: 'create', mail: { template: 'Made later', to: { $user: 'email' } } }] },
  {
    name: 'paid',
    effects: [{ on: 'update', where: { before: { status: 'new' }, after: { status: 'paid' } }, mail: toUser }],
  },
  { name: 'edits', effects: [{ on: ['create', 'update'], mail: toUser }] },
];

interface Doc extends Readonly<Record<string, unknown>> {
  readonly _id: string;
}

let project: UsersProject;
let ann: RequestOptions & { readonly email: string; readonly userId: string };

const api = <Body = Doc>(method: string, path: string, who: RequestOptions = {}, body?: unknown) =>
  project.api<Body>(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.com`;

const signedUp = async (profile: object = {}, isVerified = true) => {
  const { email, userId, accessToken } = await project.newUser(profile);
  if (isVerified) await changeStoredUsers(project, { email }, { emailVerified: true });
  return { key: project.publishableKey, token: accessToken, email, userId };
};

const made = async (method: string, path: string, who: RequestOptions, body: unknown): Promise<Doc> => {
  const answer = await api(method, path, who, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

/** The log without the emails about accounts, oldest first. */
const logsOf = (to?: string): Promise<MailLog[]> => {
  const ofEffects = { projectId: new ObjectId(project.id), templateUsed: { $in: [template, 'Made later'] } };
  return mailLogs.find({ ...ofEffects, ...(to !== undefined && { to }) }, { sort: { createdAt: 1 } });
};

const thanksTo = (address: string) => mailAbout(address, /^Thanks/);

const thanks = async (address: string) =>
  (await mailsTo(address)).filter(({ subject }) => subject.startsWith('Thanks'));

/** Waits until no document of a collection has an email that is not queued. */
const settled = async (to: string, count: number): Promise<MailLog[]> =>
  eventually(async () => {
    const logs = await logsOf(to);
    expect(logs).toHaveLength(count);
    expect(logs.every(({ status }) => status !== 'queued')).toBe(true);
    return logs;
  });

const addTemplate = async (name: string, key: string | null): Promise<void> => {
  const answer = await project.developer.dashboard('POST', `/api/projects/${project.id}/mail/templates`, {
    name,
    key,
    subject: 'Thanks for {{quantity}} × {{title}}',
    text: 'Total {{total}}. {{note}}|{{user.name}}|{{user.email}}|{{_id}}|{{_rev}}',
  });
  expect(answer.status).toBe(201);
};

beforeAll(async () => {
  project = await newUsersProject({ settings: { providerApiKey: newProviderKey() } });
  for (const each of collections) await project.addCollection({ schema, rls, ...each });
  await addTemplate('Confirmation', template);
  ann = await signedUp({ name: 'Ann' });
});

describe('the email of an effect', () => {
  test('goes to the caller with the fields that everyone may see', async () => {
    const order = await made('POST', 'orders', ann, { title: 'Cups', quantity: 3 });
    expect(Object.keys(order)).not.toContain('_effects');
    const mail = await thanksTo(ann.email);
    expect(mail).toMatchObject({ subject: 'Thanks for 3 × Cups', to: [ann.email] });
    expect(mail.text).toBe(`Total 6. |Ann|${ann.email}|${order._id}|`);
    expect((await settled(ann.email, 1))[0]).toMatchObject({ templateUsed: template, subject: mail.subject });
    const stored = await api('GET', `orders/${order._id}`, ann);
    expect(stored.body).toEqual(order);
    expect(stored.headers.get('etag')).toBe('"1"');
  });

  test('goes to the owner, to a Ref of users and to a fixed address, when the condition holds', async () => {
    const bob = await signedUp();
    await made('POST', 'owned', {}, { title: 'A', userId: bob.userId });
    expect((await thanksTo(bob.email)).subject).toContain('A');
    const cy = await signedUp();
    await made('POST', 'shared', bob, { title: 'B', friend: cy.userId });
    expect((await thanksTo(cy.email)).subject).toContain('B');
    await made('POST', 'fixed', bob, { title: 'C', status: 'old' });
    await made('POST', 'fixed', bob, { title: 'D', status: 'new' });
    expect((await settled(shop, 1))[0]?.subject).toContain('D');
  });

  test('follows the update that fulfils the condition, one time', async () => {
    const dan = await signedUp();
    const { _id } = await made('POST', 'paid', dan, { title: 'E', status: 'new' });
    await made('PATCH', `paid/${_id}`, dan, { title: 'F' });
    await made('PATCH', `paid/${_id}`, dan, { status: 'paid' });
    await made('PATCH', `paid/${_id}`, dan, { status: 'paid', title: 'G' });
    expect((await settled(dan.email, 1))[0]?.subject).toContain('F');
  });

  test('follows each document of a bulk insert, a batch and a bulk upsert', async () => {
    const eve = await signedUp();
    await made('POST', 'orders/bulk', eve, [
      { title: 'H', quantity: 1 },
      { title: 'I', quantity: 1 },
    ]);
    await settled(eve.email, 2);
    const writes = [
      { op: 'insert', collection: 'orders', document: { title: 'J', quantity: 1 } },
      { op: 'insert', collection: 'edits', document: { title: 'K', quantity: 1 } },
    ];
    const answer = await project.api('POST', '/api/batch', { ...eve, body: { writes } });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    await settled(eve.email, 4);
  });

  test('is left out in a batch that is rejected, for an import, a recovery and a deletion', async () => {
    const fay = await signedUp();
    const writes = [
      { op: 'insert', collection: 'orders', document: { title: 'L', quantity: 1 } },
      { op: 'insert', collection: 'orders', document: { title: 'M', quantity: 0 } },
    ];
    expect((await project.api('POST', '/api/batch', { ...fay, body: { writes } })).status).toBe(400);
    const held = await heldImport(project.id, 'fixed', JSON.stringify({ title: 'N', status: 'new' }));
    await runTransfer(idOf(held));
    const { _id } = await made('POST', 'edits', fay, { title: 'O', quantity: 1 });
    await settled(fay.email, 1);
    await made('DELETE', `edits/${_id}`, fay, undefined);
    await made('PATCH', `edits/${_id}/recover`, fay, undefined);
    await made('POST', 'orders', fay, { title: 'P', quantity: 1 });
    const logs = await settled(fay.email, 2);
    expect(logs.map(({ subject }) => subject)).toEqual(['Thanks for 1 × O', 'Thanks for 1 × P']);
    expect((await logsOf(shop)).filter(({ subject }) => subject.includes('N'))).toEqual([]);
  });

  test('uses a template that was made after the effect, and fails without one', async () => {
    const gil = await signedUp();
    await made('POST', 'late', gil, { title: 'Q', quantity: 1 });
    expect((await settled(gil.email, 1))[0]).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('no mail template "Made later"') as string,
    });
    await addTemplate('made later', null);
    await made('POST', 'late', gil, { title: 'R', quantity: 1 });
    expect((await thanksTo(gil.email)).subject).toContain('R');
  });

  test('is sent one time for repeats of a request with an Idempotency-Key', async () => {
    const hal = await signedUp();
    const headers = { 'idempotency-key': randomBytes(12).toString('hex') };
    const send = () => api('POST', 'orders', { ...hal, headers }, { title: 'S', quantity: 1 });
    const answers = await inParallel(10, send);
    expect(answers.some(({ status }) => status === 201)).toBe(true);
    expect((await send()).status).toBe(201);
    await made('POST', 'orders', hal, { title: 'T', quantity: 1 });
    await settled(hal.email, 2);
    expect(await thanks(hal.email)).toHaveLength(2);
  });

  test('is sent for each of 50 concurrent orders', async () => {
    const ida = await signedUp();
    await inParallel(50, (index) => made('POST', 'orders', ida, { title: `Order ${index}`, quantity: 1 }));
    await settled(ida.email, 50);
    expect(new Set((await thanks(ida.email)).map(({ subject }) => subject)).size).toBe(50);
  });
});

describe('the log shows "failed"', () => {
  test.each([
    ['to an address that is not verified', 'no verified email'],
    ['without a user', 'no user'],
  ])('for an email %s', async (_title, reason) => {
    const joe = await signedUp({}, false);
    await made('POST', 'orders', reason === 'no user' ? {} : joe, { title: 'U', quantity: 1 });
    await eventually(async () => {
      const failed = (await logsOf()).filter(({ status }) => status === 'failed');
      expect(failed.some((each) => each.reason?.includes(reason))).toBe(true);
    });
    expect(await thanks(joe.email)).toEqual([]);
  });

  test('for a second email about the same document to an address within an hour', async () => {
    const kim = await signedUp();
    const { _id } = await made('POST', 'edits', kim, { title: 'V', quantity: 1 });
    await settled(kim.email, 1);
    await made('PATCH', `edits/${_id}`, kim, { title: 'W' });
    expect((await settled(kim.email, 2))[1]).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('within the last hour') as string,
    });
    expect(await thanks(kim.email)).toHaveLength(1);
  });
});

describe('addresses that callers choose', () => {
  test('50 concurrent documents send one email to an address', async () => {
    const address = newAddress();
    await inParallel(50, () => made('POST', 'open', { key: project.publishableKey }, { title: 'X', address }));
    const logs = await settled(address, 50);
    expect(logs.filter(({ status }) => status !== 'failed')).toHaveLength(1);
    expect(logs.filter(({ reason }) => reason?.includes('to this address today'))).toHaveLength(49);
    expect(await mailsTo(address)).toHaveLength(1);
  });

  test('50 concurrent documents of a user send 20 emails', async () => {
    const lee = await signedUp();
    const addresses = Array.from({ length: 50 }, newAddress);
    await inParallel(50, (index) => made('POST', 'open', lee, { title: 'Y', address: addresses[index] }));
    const logs = await eventually(async () => {
      const found = (await logsOf()).filter(({ to }) => addresses.includes(to[0] ?? ''));
      expect(found).toHaveLength(50);
      expect(found.every(({ status }) => status !== 'queued')).toBe(true);
      return found;
    });
    expect(logs.filter(({ status }) => status !== 'failed')).toHaveLength(20);
  });

  test.each(['', 'none', 'A <a@example.com>', 'a@example.com, b@example.com', 'a@example.com\nBcc: b@example.com'])(
    'no email for the text %j',
    async (address) => {
      await made('POST', 'open', {}, { title: `Z${address}`, address });
      await eventually(async () => {
        const logs = (await logsOf()).filter(({ to }) => (to[0] ?? '') === address.trim());
        expect(logs[0]).toMatchObject({ status: 'failed' });
      });
    },
  );
});
