import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { handler } from '../../../functions/mail/send-batch.ts';
import { handler as sendMail } from '../../../functions/mail/send-mail.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { deliverMail } from '../../../shared/mail/deliver.ts';
import { type MailLog, mailLogs } from '../../../shared/mail/log.ts';
import { heldSlots, mailUsage } from '../../../shared/mail/quota.ts';
import { suppress } from '../../../shared/mail/suppressions.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { mailsTo } from '../../support/clients/inbox.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { HttpProxy } from '../../support/faults/http-proxy.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

// The handler runs in this process and reaches the provider through a proxy.
listenToCommands();
process.env.RATE_LIMIT = '1000000';
let provider: HttpProxy;
let project: TestProject;

beforeAll(async () => {
  provider = await HttpProxy.start(inject('stack').env.MAIL_PROVIDER_URL ?? '');
  process.env.MAIL_PROVIDER_URL = provider.url;
});
afterEach(() => {
  vi.restoreAllMocks();
  provider.heal();
});
afterAll(() => provider.close());

const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.com`;
const accepted = expect.stringMatching(/^(sent|delivered)$/) as unknown;
const anId = expect.any(String) as unknown;

interface Batch {
  readonly success: boolean;
  readonly message: string;
  readonly code?: string;
  readonly data: readonly { readonly id?: string; readonly error?: { readonly message: string } }[];
  readonly errors?: unknown;
}

const send = async (body: unknown, to = project) => {
  const { status, body: answer } = await invoke(handler, { key: to.secretKey, body });
  return { status, body: answer as unknown as Batch };
};

const mailOf = (to: unknown = newAddress()) => ({ to, subject: 'Hello', html: '<p>Hi</p>' });
const batchOf = (count: number) => Array.from({ length: count }, () => mailOf());
const used = async (): Promise<number> => (await mailUsage(await domainProject(project))).used;
const held = async () => (await heldSlots(project.id, new Date(clock.now()).toISOString().slice(0, 7))).ids;
const batches = () => provider.asked.filter(({ path }) => path === '/emails/batch');
const logs = (): Promise<MailLog[]> => mailLogs.find({ projectId: new ObjectId(project.id) }, { sort: { _id: 1 } });

describe('a batch', () => {
  beforeAll(async () => {
    project = await newProject();
  });

  test('200 with one entry per item in order, one call to the provider, and a log and a slot for each', async () => {
    const asked = batches().length;
    const items = [mailOf(), { ...mailOf([newAddress(), newAddress()]), replyTo: 'answers@example.com' }, mailOf()];
    const { status, body } = await send(items);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      message: '3 of 3 emails sent.',
      data: [{ id: anId }, { id: anId }, { id: anId }],
    });
    expect(batches()).toHaveLength(asked + 1);
    const rows = await logs();
    expect(rows.map(({ providerEmailId }) => providerEmailId)).toEqual(body.data.map(({ id }) => id));
    for (const row of rows) {
      expect(row).toMatchObject({ status: accepted, subject: 'Hello', usingByok: false, templateUsed: null });
      expect(row).not.toHaveProperty('job');
    }
    expect([await used(), await held()]).toEqual([3, []]);
    const [mail] = await mailsTo([items[1]?.to].flat()[1] as string);
    expect(mail).toMatchObject({
      to: items[1]?.to,
      reply_to: ['answers@example.com'],
      from: 'test project <no-reply@basalt.local>',
    });
  });

  test('costs 1 find, 1 insert and 1 update of MongoDB, 1 transaction and 1 update of the table for any number of items', async () => {
    const frozen = Date.now();
    vi.spyOn(clock, 'now').mockReturnValue(frozen);
    await send(batchOf(1));
    expect(await commandsOf(() => send(batchOf(100)))).toEqual([
      'dynamodb TransactWriteItemsCommand',
      'dynamodb UpdateItemCommand',
      'dynamodb UpdateItemCommand',
      'mongodb find',
      'mongodb insert',
      'mongodb update',
    ]);
  });
});

describe('an invalid batch', () => {
  test.each<[string, unknown, string, string]>([
    ['that is empty', [], 'INVALID_MAIL', 'Batch cannot be empty'],
    ['of 101 items', Array.from({ length: 101 }, () => mailOf()), 'INVALID_MAIL', 'Max 100 emails per batch'],
    [
      'with an item without content',
      [mailOf(), { to: newAddress(), subject: 'a' }],
      'INVALID_MAIL',
      'Provide html or text',
    ],
    [
      'with an item without a subject',
      [mailOf(), { ...mailOf(), subject: ' ' }],
      'INVALID_MAIL',
      'Subject is required',
    ],
    ['with an item without recipients', [mailOf(), mailOf([])], 'INVALID_MAIL', 'Recipient list cannot be empty'],
    ['with nobody to answer', [{ ...mailOf(), replyTo: [] }], 'INVALID_MAIL', 'Reply-to list cannot be empty'],
    ['that is an object', mailOf(), 'INVALID_BODY', 'The body must be a JSON array of objects.'],
    ['of texts', ['a'], 'INVALID_BODY', 'The body must be a JSON array of objects.'],
  ])('400 for one %s; nothing is sent and no slot is reserved', async (_title, body, code, message) => {
    const [before, asked] = [await used(), provider.asked.length];
    expect(await send(body)).toMatchObject({ status: 400, body: { code, message } });
    expect([await used(), provider.asked.length]).toEqual([before, asked]);
  });

  test('400 INVALID_MAIL with the index', async () => {
    const { body } = await send([mailOf(), { ...mailOf(), html: '' }]);
    expect(body.errors).toEqual([{ index: 1, field: 'html', message: 'Provide html or text' }]);
  });

  test('429 MAIL_QUOTA_EXCEEDED for the whole batch when one slot is missing; 50 concurrent batches never exceed the quota', async () => {
    project = await newProject([], await newDeveloper('free'));
    expect(await send(batchOf(26))).toMatchObject({ status: 429, body: { code: 'MAIL_QUOTA_EXCEEDED' } });
    expect([await used(), await logs()]).toEqual([0, []]);
    const answers = await inParallel(50, () => send(batchOf(2)));
    expect(tally(answers)).toEqual({ 200: 12, 429: 38 });
    expect([await used(), (await logs()).length]).toEqual([24, 24]);
  });
});

describe('when the provider', () => {
  beforeAll(async () => {
    project = await newProject();
  });

  test('accepts only some items, each entry says so and the other slots are refunded', async () => {
    const before = await used();
    const body = {
      data: [{ id: 'first' }, { id: 'third' }],
      errors: [{ index: 1, message: 'The `to` is not deliverable' }],
    };
    provider.next({ status: 200, body });
    const answer = await send(batchOf(3));
    expect(answer).toMatchObject({
      status: 200,
      body: { data: [{ id: 'first' }, { error: { message: 'The `to` is not deliverable' } }, { id: 'third' }] },
    });
    expect((await logs()).slice(-3)).toMatchObject([
      { status: 'sent', providerEmailId: 'first' },
      { status: 'failed', reason: 'The `to` is not deliverable' },
      { status: 'sent', providerEmailId: 'third' },
    ]);
    expect([await used(), await held()]).toEqual([before + 2, []]);
  });

  test.each([401, 403, 422])('%s: every item has the error, and all slots are refunded', async (status) => {
    const before = await used();
    provider.meet(status);
    const { body } = await send(batchOf(3));
    for (const item of body.data) expect(item).toEqual({ error: { message: 'application_error: Said by the test' } });
    for (const row of (await logs()).slice(-3)) {
      expect(row).toMatchObject({ status: 'failed' });
      expect(row).not.toHaveProperty('job');
    }
    expect([await used(), await held()]).toEqual([before, []]);
  });

  test.each([[[500]], [['cut']], [['lose the answer']], [[429]]] as const)(
    '%j: the call is repeated once under the same key, and sends once',
    async (faults) => {
      const [before, asked] = [await used(), batches().length];
      provider.next(...faults);
      const items = batchOf(2);
      const { body } = await send(items);
      expect(body.data).toEqual([{ id: anId }, { id: anId }]);
      const [first, second] = batches().slice(asked);
      expect(first?.headers['idempotency-key']).toBe(second?.headers['idempotency-key']);
      for (const { to } of items) expect(await mailsTo(String(to))).toHaveLength(1);
      expect([await used(), await held()]).toEqual([before + 2, []]);
    },
  );

  test('500 twice: all items fail and all slots are refunded', async () => {
    const before = await used();
    provider.next(500, 500);
    const { body } = await send(batchOf(2));
    expect(body.data.map(({ error }) => error?.message)).toEqual(Array(2).fill('application_error: Said by the test'));
    expect([await used(), await held()]).toEqual([before, []]);
  });

  test('does not respond, the items say so and the log shows the outcome later', async () => {
    const before = await used();
    provider.next('lose the answer', 'lose the answer');
    const { body } = await send(batchOf(2));
    for (const { error } of body.data)
      expect(error?.message).toMatch('The mail log will show whether the email was sent');
    const [first, second] = (await logs()).slice(-2);
    if (!first || !second) throw new Error('There are no logs');
    for (const { job } of [first, second]) expect(job).toMatchObject({ slot: expect.any(String) as unknown });
    expect(await used()).toBe(before + 2);

    const event = { status: 'delivered' as const, lastEventAt: new Date('2100-01-01') };
    await mailLogs.updateOne({ _id: first._id }, { $set: event });
    const silent = { $set: { status: 'queued' as const }, $unset: { lastEventAt: '' as const } };
    await mailLogs.updateOne({ _id: second._id }, silent);
    for (const { _id } of [first, second]) await deliverMail(_id.toHexString(), 1);
    expect((await logs()).slice(-2)).toMatchObject([
      { status: 'delivered' },
      { status: 'failed', reason: 'The provider did not say whether it accepted the email' },
    ]);
    expect([await used(), await held()]).toEqual([before + 1, []]);
  });
});

describe('suppressed addresses', () => {
  test('have an error in the response and in the log and no slot; the other emails are sent', async () => {
    project = await newProject();
    const [suppressed, other] = [newAddress(), newAddress()];
    await suppress(project.id, [suppressed], { reason: 'complained', providerEmailId: null });
    const { body } = await send([mailOf(suppressed), mailOf([suppressed, other]), mailOf(other)]);
    expect(body.data).toEqual([
      { error: { message: expect.stringMatching('suppressed') as unknown } },
      { id: anId },
      { id: anId },
    ]);
    expect(await logs()).toMatchObject([
      { status: 'failed', reason: 'suppressed' },
      { status: accepted },
      { status: accepted },
    ]);
    expect(await used()).toBe(2);
    expect(await mailsTo(suppressed)).toEqual([]);
    const none = await send([mailOf(suppressed)]);
    expect(none).toMatchObject({
      status: 200,
      body: { data: [{ error: { message: expect.any(String) as unknown } }] },
    });
    expect(await used()).toBe(2);
  });
});

describe('log entries', () => {
  // Recent, because tests of the job that deletes old logs run concurrently.
  const day = new Date().setUTCHours(12, 0, 0, 0);
  const refused = { code: 'MAIL_QUOTA_EXCEEDED', message: expect.stringMatching('takes 100 emails a day') as unknown };

  beforeEach(async () => {
    project = await newProject([], await newDeveloper('free'));
    vi.spyOn(clock, 'now').mockReturnValue(day);
    forgetProjects();
  });

  test('429 MAIL_QUOTA_EXCEEDED for more than four times the month’s emails in a day, even if all are suppressed', async () => {
    const suppressed = newAddress();
    await suppress(project.id, [suppressed], { reason: 'complained', providerEmailId: null });
    expect((await send(Array.from({ length: 90 }, () => mailOf(suppressed)))).status).toBe(200);
    const answers = await inParallel(50, () => send([mailOf(suppressed), mailOf(suppressed)]));
    expect(tally(answers)).toEqual({ 200: 5, 429: 45 });
    expect(answers.find(({ status }) => status === 429)?.body).toMatchObject(refused);
    expect(await invoke(sendMail, { key: project.secretKey, body: mailOf(suppressed) })).toMatchObject({ status: 429 });
    expect([(await logs()).length, await used()]).toEqual([100, 0]);
    vi.spyOn(clock, 'now').mockReturnValue(day + 24 * 3600_000);
    expect((await send([mailOf(suppressed)])).status).toBe(200);
  });

  test('429 also when the provider rejects them and every slot is refunded', async () => {
    provider.meet(401);
    for (let times = 0; times < 4; times++) expect((await send(batchOf(25))).status).toBe(200);
    expect(await send(batchOf(1))).toMatchObject({ status: 429, body: refused });
    expect([(await logs()).length, await used()]).toEqual([100, 0]);
  });
});

describe("a project's own provider key", () => {
  test('sends batches from its own address', async () => {
    project = await newProject([], await newDeveloper('free'));
    const settings = { providerApiKey: 're_own', providerFromEmail: 'shop@example.org' };
    await project.developer.dashboard('PATCH', `/api/projects/${project.id}`, settings);
    forgetProjects();
    expect((await send(batchOf(1))).status).toBe(200);
    expect(batches().at(-1)).toMatchObject({
      headers: { authorization: 'Bearer re_own' },
      body: [{ from: 'shop@example.org' }],
    });
    expect(await logs()).toMatchObject([{ usingByok: true }]);
    expect(await used()).toBe(1);
  });
});
