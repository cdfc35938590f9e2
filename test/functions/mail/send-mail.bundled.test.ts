import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { handler } from '../../../functions/mail/send-mail.ts';
import { clock } from '../../../shared/core/clock.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { requeueMail } from '../../../shared/mail/queue.ts';
import { mailUsage } from '../../../shared/mail/quota.ts';
import { suppress } from '../../../shared/mail/suppressions.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { mailsTo, mailTo } from '../../support/clients/inbox.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { publishedClient, refusedAs } from '../../support/clients/published-client.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { FaultProxy } from '../../support/faults/proxy.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

// This process reaches the queue through a proxy that can fail.
listenToCommands();
process.env.RATE_LIMIT = '1000000';
const queues = new URL(inject('stack').env.AWS_ENDPOINT_URL ?? '');
let way: FaultProxy;
let project: TestProject;

beforeAll(async () => {
  way = await FaultProxy.start({ port: Number(queues.port) });
  const proxied = `http://127.0.0.1:${way.port}`;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SQS: proxied,
    MAIL_QUEUE_URL: (inject('stack').env.MAIL_QUEUE_URL ?? '').replace(queues.origin, proxied),
  });
  project = await newProject();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => way.close());

/** A stopped clock keeps the project cached during a test. */
const stopClock = (): void => {
  vi.spyOn(clock, 'now').mockReturnValue(Date.now());
};

const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.com`;

interface Sent {
  readonly data: {
    readonly id: string;
    readonly provider: string;
    readonly monthlyUsage: number;
    readonly monthlyLimit: number;
  };
}

const send = (body: unknown, from = project) => from.api<Sent>('POST', '/api/mail/send', { body });
const mailOf = (to: unknown = newAddress()) => ({ to, subject: 'Hello', text: 'Hi {{name}}', html: '<p>Hi</p>' });

const logOf = async (id: string) => {
  const log = await mailLogs.findOne({ _id: new ObjectId(id) });
  if (!log) throw new Error('There is no such mail');
  return log;
};

/** Marks an email as lost and runs the job that enqueues lost ones. */
const lose = async (id: string): Promise<void> => {
  await mailLogs.updateOne({ _id: new ObjectId(id) }, { $set: { 'job.lostAt': new Date(0) } });
  await requeueMail();
};

describe('a direct email', () => {
  test('200 with the id of its job and the quota', async () => {
    const fresh = await newProject();
    const first = await send(mailOf(), fresh);
    expect(first).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: { id: expect.stringMatching(/^[0-9a-f]{24}$/) as unknown, provider: 'default', monthlyLimit: 1000 },
        message: 'Mail queued successfully.',
      },
    });
    const second = await send(mailOf(), fresh);
    expect([first, second].map(({ body }) => body.data.monthlyUsage)).toEqual([1, 2]);
  });

  test('reaches every recipient from the project, byte for byte', async () => {
    const to = [newAddress(), `Bo <${newAddress()}>`];
    const replyTo = ['answers@example.com', 'more@example.com'];
    const { body } = await send({ ...mailOf(to), replyTo });
    const mail = await mailTo(to[0] ?? '');
    expect(mail).toMatchObject({
      from: 'test project <no-reply@basalt.local>',
      to,
      reply_to: replyTo,
      subject: 'Hello',
      text: 'Hi {{name}}',
      html: '<p>Hi</p>',
      tags: [{ name: 'basalt_mail', value: body.data.id }],
    });
    expect(await mailsTo(to[1] ?? '')).toHaveLength(1);
  });

  test('renders variables: raw in subject and text, escaped in html', async () => {
    const to = newAddress();
    const words = { subject: 'For {{name}}', text: 'Hi {{name}}, of {{siteName}}', html: '<p>Hi {{name}}</p>' };
    const { status, body } = await send({ to, ...words, variables: { name: 'A & <B>' } });
    expect(status).toBe(200);
    const filled = { subject: 'For A & <B>', text: 'Hi A & <B>, of test project', html: '<p>Hi A &amp; &lt;B&gt;</p>' };
    expect(await mailTo(to)).toMatchObject(filled);
    expect(await logOf(body.data.id)).toMatchObject({ subject: 'For A & <B>', templateUsed: null });
  });

  test('400 INVALID_MAIL when its rendered subject is empty; no slot is reserved', async () => {
    const { used } = await mailUsage(await domainProject(project));
    const answer = await send({ ...mailOf(), subject: ' {{missing}} ', variables: { name: 'Ann' } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_MAIL', message: 'Subject is required' } });
    expect((await mailUsage(await domainProject(project))).used).toBe(used);
  });

  test('is logged when accepted with its content sealed, which is deleted after sending', async () => {
    const [to, words] = [newAddress(), 'What only the receiver is to read'];
    await way.refuse();
    const answer = await invoke(handler, { key: project.secretKey, body: { ...mailOf(to), text: words, html: words } });
    await way.heal();
    const { id } = (answer.body as unknown as Sent).data;
    const log = await logOf(id);
    expect(log).toMatchObject({ status: 'queued', to: [to], subject: 'Hello', usingByok: false, templateUsed: null });
    expect(log.job?.content).toEqual(expect.any(String));
    expect(JSON.stringify(log)).not.toContain(words);
    await lose(id);
    await mailTo(to);
    const sent = await eventually(async () => {
      const row = await logOf(id);
      expect(row.job).toBeUndefined();
      return row;
    });
    expect(sent).toMatchObject({ providerEmailId: expect.any(String) as unknown });
  });

  test('costs 1 find, 1 insert, 1 transaction and 1 get of the table and 1 message, and no call to the provider', async () => {
    stopClock();
    const run = () => invoke(handler, { key: project.secretKey, body: mailOf() });
    await run();
    expect(await commandsOf(run)).toEqual([
      'dynamodb GetItemCommand',
      'dynamodb TransactWriteItemsCommand',
      'dynamodb UpdateItemCommand',
      'mongodb find',
      'mongodb insert',
      'sqs SendMessageCommand',
    ]);
  });

  test('200 when the queue is down: the email is only late', async () => {
    const to = newAddress();
    await way.refuse();
    const answer = await invoke(handler, { key: project.secretKey, body: mailOf(to) });
    expect(answer.status).toBe(200);
    await way.heal();
    expect(await mailsTo(to)).toEqual([]);
    await lose((answer.body as unknown as Sent).data.id);
    expect((await mailTo(to)).subject).toBe('Hello');
  });
});

test('200 with the shared key: our address with a plain name is the sender', async () => {
  const named = await newProject();
  const name = 'Bank of you.example <security@bank.example>, act now!';
  await named.developer.dashboard('PATCH', `/api/projects/${named.id}`, { name });
  const to = newAddress();
  expect((await send(mailOf(to), named)).status).toBe(200);
  expect((await mailTo(to)).from).toMatch(/^Bank of act now <[^<>]+>$/);
});

describe('an email from a template', () => {
  const welcome = { templateName: 'Welcome' };

  test('200, rendered, and named in the log', async () => {
    const to = newAddress();
    const { status, body } = await send({ ...welcome, to, variables: { siteName: 'A\r\nB & C' } });
    expect(status).toBe(200);
    const mail = await mailTo(to);
    expect(mail.subject).toBe('Welcome to A  B & C');
    expect(mail.html).toContain('B &amp; C');
    expect(await logOf(body.data.id)).toMatchObject({ templateUsed: 'Welcome', subject: 'Welcome to A  B & C' });
  });

  test.each(['welcome', 'welcome-2', 'otp', 'password-reset', 'invite'])(
    '200 from %s, as in the README of the published client',
    async (templateName) => {
      const to = newAddress();
      const variables = { name: 'Yash', projectName: 'Acme', appUrl: 'https://acme.com' };
      expect((await send({ to, templateName, variables })).status).toBe(200);
      expect((await mailTo(to)).subject).toContain('Acme');
    },
  );

  test('costs one more find', async () => {
    stopClock();
    const run = () => invoke(handler, { key: project.secretKey, body: { ...welcome, to: newAddress() } });
    await run();
    expect(await commandsOf(run)).toEqual([
      'dynamodb GetItemCommand',
      'dynamodb TransactWriteItemsCommand',
      'dynamodb UpdateItemCommand',
      'mongodb find',
      'mongodb find',
      'mongodb insert',
      'sqs SendMessageCommand',
    ]);
  });

  test.each([{ templateId: 'f'.repeat(24) }, { templateId: 'x' }, { templateName: 'no such' }, { templateName: '' }])(
    '404 TEMPLATE_NOT_FOUND for %j; no slot is reserved',
    async (reference) => {
      const { used } = await mailUsage(await domainProject(project));
      const answer = await send({ ...reference, to: newAddress() });
      expect(answer).toMatchObject({ status: 404, body: { code: 'TEMPLATE_NOT_FOUND' } });
      expect(await mailUsage(await domainProject(project))).toMatchObject({ used });
    },
  );

  test('400 INVALID_MAIL when its rendered subject is empty', async () => {
    const made = await project.developer.dashboard('POST', `/api/projects/${project.id}/mail/templates`, {
      name: 'empty',
      subject: '{{subject}}',
      text: 'Hi',
    });
    expect(made.status).toBe(201);
    const answer = await send({ templateName: 'empty', to: newAddress(), variables: { subject: ' ' } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_MAIL', message: 'Subject is required' } });
  });
});

describe('an invalid email', () => {
  test.each<[string, object, string]>([
    ['no recipient', { to: [] }, 'Recipient list cannot be empty'],
    ['nobody to answer', { replyTo: [] }, 'Reply-to list cannot be empty'],
    ['no subject', { subject: '' }, 'Subject is required'],
    ['no content', { html: '', text: '' }, 'Provide at least one of html or text content.'],
    ['10 000 recipients', { to: Array.from({ length: 10_000 }, () => 'a@b.co') }, 'to must have at most 50 addresses'],
    [
      'a header in the subject',
      { subject: 'a\r\nBcc: b@c.org' },
      'subject must not contain line breaks or other control characters',
    ],
    ['an operator for an address', { to: { $ne: null } }, 'to must be a String or an Array of Strings'],
  ])('400 INVALID_MAIL for %s; no slot is reserved', async (_title, given, message) => {
    const { used } = await mailUsage(await domainProject(project));
    const answer = await send({ ...mailOf(), ...given });
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: 'INVALID_MAIL', message } });
    expect(await mailUsage(await domainProject(project))).toMatchObject({ used });
  });

  test.each(['[]', '"text"', '5', 'null', '{', ''])('400 for the body %s', async (body) => {
    expect((await send(body)).status).toBe(400);
  });

  test('413 BODY_TOO_LARGE for more than 1 MiB', async () => {
    const answer = await send({ ...mailOf(), text: 'a'.repeat(1024 * 1024) });
    expect(answer).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } });
  });

  test('403 SECRET_KEY_REQUIRED for the publishable key', async () => {
    const answer = await project.api('POST', '/api/mail/send', { key: project.publishableKey, body: mailOf() });
    expect(answer).toMatchObject({ status: 403, body: { code: 'SECRET_KEY_REQUIRED' } });
  });
});

describe('the monthly quota', () => {
  test('429 MAIL_QUOTA_EXCEEDED: 50 concurrent emails never exceed the limit', async () => {
    const free = await newProject([], await newDeveloper('free'));
    await inParallel(20, () => send(mailOf(), free));
    const answers = await inParallel(50, () => send(mailOf(), free));
    expect(tally(answers)).toEqual({ 200: 5, 429: 45 });
    const taken = answers.flatMap(({ status, body }) => (status === 200 ? body.data.monthlyUsage : []));
    expect(Math.max(...taken)).toBe(25);
    expect(Math.min(...taken)).toBeGreaterThan(20);
    expect(await mailUsage(await domainProject(free))).toEqual({ used: 25, limit: 25 });
    const refused = await send(mailOf(), free);
    expect(refused).toMatchObject({ status: 429, body: { code: 'MAIL_QUOTA_EXCEEDED' } });
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(24 * 3600);
    expect(await mailLogs.countDocuments({ projectId: new ObjectId(free.id) })).toBe(25);
  });

  test('is counted per project', async () => {
    const free = await newProject([], await newDeveloper('free'));
    expect((await send(mailOf(), free)).body.data).toMatchObject({ monthlyUsage: 1, monthlyLimit: 25 });
  });
});

describe('an email without recipients', () => {
  const suppressed = newAddress();
  const of = async (plan: 'free' | 'pro') => {
    const made = await newProject([], await newDeveloper(plan));
    await suppress(made.id, [suppressed], { reason: 'bounced', providerEmailId: null });
    return made;
  };

  test('200, logged as failed, without a slot', async () => {
    const mine = await of('pro');
    const another = newAddress();
    await suppress(mine.id, [another], { reason: 'bounced', providerEmailId: null });
    const answer = await send(mailOf([suppressed, `Sam <${another.toUpperCase()}>`]), mine);
    expect(answer).toMatchObject({ status: 200, body: { data: { monthlyUsage: 0, monthlyLimit: 1000 } } });
    const log = await logOf(answer.body.data.id);
    expect(log).toMatchObject({ status: 'failed', reason: 'suppressed', subject: 'Hello', to: { length: 2 } });
    expect(log).not.toHaveProperty('job');
    expect(await mailUsage(await domainProject(mine))).toMatchObject({ used: 0 });
  });

  test('200 with a slot for the recipients that are not suppressed', async () => {
    const mine = await of('pro');
    const other = newAddress();
    const answer = await send(mailOf([suppressed, other]), mine);
    expect(answer.body.data.monthlyUsage).toBe(1);
    await mailTo(other);
    expect(await mailsTo(suppressed)).toEqual([]);
  });

  test('200 with a used-up quota, for 50 concurrent requests; 429 for other recipients', async () => {
    const mine = await of('free');
    await inParallel(25, () => send(mailOf(), mine));
    expect(tally(await inParallel(50, () => send(mailOf(suppressed), mine)))).toEqual({ 200: 50 });
    expect(await send(mailOf(), mine)).toMatchObject({ status: 429, body: { code: 'MAIL_QUOTA_EXCEEDED' } });
    expect(await mailUsage(await domainProject(mine))).toEqual({ used: 25, limit: 25 });
  });
});

describe('the published client', () => {
  test('sends emails', async () => {
    const to = newAddress();
    const sent = await publishedClient(project.secretKey).mail.send({ to, subject: 'From the client', text: 'Hi' });
    expect(sent).toMatchObject({ provider: 'default', monthlyLimit: 1000 });
    expect((await mailTo(to)).subject).toBe('From the client');
    const other = newAddress();
    await publishedClient(project.secretKey).mail.send({ to: other, templateName: 'welcome', variables: {} });
    expect((await mailTo(other)).subject).toBe('Welcome to test project');
  });

  test('receives error messages', async () => {
    const client = publishedClient(project.secretKey);
    await expect(client.mail.send({ to: [], subject: 'a', text: 'b' })).rejects.toMatchObject({
      message: 'Recipient list cannot be empty',
    });
    await expect(client.mail.send({ to: newAddress(), templateName: 'none' })).rejects.toMatchObject(
      refusedAs('NotFoundError'),
    );
  });
});
