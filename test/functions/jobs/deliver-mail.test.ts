import { randomBytes } from 'node:crypto';
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { handler } from '../../../functions/jobs/deliver-mail.ts';
import { createQueue, pollQueue } from '../../../infra/local/queues.ts';
import { clock } from '../../../shared/core/clock.ts';
import { deliverMail } from '../../../shared/mail/deliver.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { mailTries, requeueMail } from '../../../shared/mail/queue.ts';
import { type QueuedMail, queueMail } from '../../../shared/mail/send.ts';
import { inParallel } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { codeIn, mailsTo, mailTo, tokenIn } from '../../support/clients/inbox.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import type { HttpFault } from '../../support/faults/fault.ts';
import { HttpProxy } from '../../support/faults/http-proxy.ts';
import { FaultProxy } from '../../support/faults/proxy.ts';
import { newMailProject } from '../../support/fixtures/mail-project.ts';

// Own queue and own proxy to the provider, so that only deliveries of this file are involved.
listenToCommands();
const queueName = `test-${randomBytes(4).toString('hex')}`;
const endpoint = process.env.AWS_ENDPOINT_URL ?? '';
const sqs = new SQSClient({ endpoint, region: 'eu-west-1', maxAttempts: 1 });
let provider: HttpProxy;
let way: FaultProxy;
let queueUrl: string;
let stopPolling: () => Promise<void>;
/** If `false`, messages of the queue are received but not processed, and the test delivers by hand. */
let delivering = false;
/** All messages received from the queue. */
const handedOut: string[] = [];

const deliver = async (event: SQSEvent): Promise<SQSBatchResponse> => {
  handedOut.push(...event.Records.map(({ body }) => body));
  if (delivering) return handler(event);
  return { batchItemFailures: [] };
};

beforeAll(async () => {
  provider = await HttpProxy.start(inject('stack').env.MAIL_PROVIDER_URL ?? '');
  way = await FaultProxy.start({ port: Number(new URL(endpoint).port) });
  queueUrl = await createQueue(sqs, endpoint, 'mail', queueName);
  const proxied = `http://127.0.0.1:${way.port}`;
  Object.assign(process.env, {
    MAIL_PROVIDER_URL: provider.url,
    AWS_ENDPOINT_URL_SQS: proxied,
    MAIL_QUEUE_URL: queueUrl.replace(endpoint, proxied),
    MAIL_RETRY_SECONDS: '0',
  });
  stopPolling = pollQueue({ sqs, queueUrl, batchSize: 5, deliver, onFailure: () => undefined });
});

afterEach(() => {
  vi.restoreAllMocks();
  delivering = false;
  provider.heal();
});

afterAll(async () => {
  await stopPolling();
  sqs.destroy();
  await Promise.all([provider.close(), way.close()]);
});

/** The provider's first events can arrive before its response is stored. */
const accepted = expect.stringMatching(/^(sent|delivered)$/) as unknown;

const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.com`;

const mailFor = (to: string | null): QueuedMail => ({
  projectId: null,
  template: 'verification',
  to,
  variables: { link: 'https://app.example.com/verify-email?token=abc', code: 'ABCD-2345', minutes: '10' },
  siteName: 'Notes',
});

const logFor = async (to: string) => {
  const log = await mailLogs.findOne({ to });
  if (!log) throw new Error(`There is no mail to ${to}`);
  return log;
};

const idFor = async (to: string): Promise<string> => (await logFor(to))._id.toHexString();

/** Waits until no work is left for the email. */
const settled = (to: string) =>
  eventually(async () => {
    const log = await logFor(to);
    expect(log.job).toBeUndefined();
    return log;
  });

const requestsFor = (id: string): number =>
  provider.asked.filter(({ headers }) => headers['idempotency-key'] === id).length;

/** An accepted email whose message the test delivers. */
const heldMail = async (to = newAddress()): Promise<{ readonly to: string; readonly id: string }> => {
  await queueMail(mailFor(to));
  const id = await idFor(to);
  await eventually(() => expect(handedOut).toContain(id));
  return { to, id };
};

const recordOf = (body: string): SQSRecord => ({
  messageId: `message-${body}`,
  receiptHandle: 'none',
  body,
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '0',
    SenderId: 'test',
    ApproximateFirstReceiveTimestamp: '0',
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn',
  awsRegion: 'eu-west-1',
});

const eventOf = (...bodies: string[]): SQSEvent => ({ Records: bodies.map(recordOf) });

describe('an accepted email', () => {
  test('an email costs one write and one message when it is accepted', async () => {
    expect(await commandsOf(() => queueMail(mailFor(newAddress())))).toEqual([
      'mongodb insert',
      'sqs SendMessageCommand',
    ]);
  });

  test('an email is in the log with sealed content when it is accepted', async () => {
    const { to } = await heldMail();
    const log = await logFor(to);
    expect(log).toMatchObject({
      status: 'queued',
      to: [to],
      subject: 'Confirm your email address for Notes',
      templateUsed: 'verification',
      usingByok: false,
      job: { content: expect.any(String) as unknown },
    });
    expect(JSON.stringify(log)).not.toMatch(/ABCD-2345|token=abc/);
  });

  test('an email arrives one time with link and code when it is sent, and its content is deleted', async () => {
    const to = newAddress();
    delivering = true;
    await queueMail(mailFor(to));
    const mail = await mailTo(to);
    expect(mail.from).toBe('Notes <no-reply@basalt.local>');
    expect(mail.subject).toContain('Notes');
    expect([tokenIn(mail), codeIn(mail)]).toEqual(['abc', 'ABCD-2345']);
    const log = await settled(to);
    expect(log).toMatchObject({ status: accepted, providerEmailId: mail.id });
    expect(log).not.toHaveProperty('job');
    expect(requestsFor(log._id.toHexString())).toBe(1);
  });

  test('an email is sent one time when the queue delivers its message repeatedly', async () => {
    const { to, id } = await heldMail();
    for (let time = 0; time < 3; time++) expect(await handler(eventOf(id, id))).toEqual({ batchItemFailures: [] });
    expect(await mailsTo(to)).toHaveLength(1);
    expect(requestsFor(id)).toBe(1);
  });

  test('an email is sent one time when the queue delivers its message concurrently', async () => {
    const { to, id } = await heldMail();
    const deliveries = await inParallel(50, () => deliverMail(id, 1));
    expect(deliveries.every(({ done }) => done)).toBe(true);
    expect(requestsFor(id)).toBe(1);
    expect(await mailsTo(to)).toHaveLength(1);
  });

  test('is sent by one run, and by another one when that was killed; the provider recognises the repeat', async () => {
    // No event reports it, because a late one would change the log again.
    const { to, id } = await heldMail(`silent+${randomBytes(6).toString('hex')}@resend.dev`);
    const before = await logFor(to);
    provider.next('lose the answer');
    expect(await deliverMail(id, 1)).toMatchObject({ done: false });
    const leasedUntil = new Date(Date.now() + 60_000);
    const job = { leasedUntil, lostAt: leasedUntil, inDoubt: true, content: before.job?.content ?? '' };
    await mailLogs.on((logs) => logs.replaceOne({ _id: before._id }, { ...before, job }));
    expect(await deliverMail(id, 1)).toEqual({ done: true });
    expect((await logFor(to)).status).toBe('queued');
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 61_000);
    await deliverMail(id, 2);
    expect(await logFor(to)).toMatchObject({ status: accepted });
    expect(requestsFor(id)).toBe(2);
    expect(await mailsTo(to)).toHaveLength(1);
  });

  test('an email is not sent and leaves nothing when it has no recipient', async () => {
    const asked = provider.asked.length;
    const projectId = new ObjectId();
    const begin = new Date();
    await queueMail({ ...mailFor(null), projectId: projectId.toHexString() });
    const forNobody = { status: 'nobody', createdAt: { $gte: begin } } as const;
    const ids = await mailLogs.on((logs) => logs.distinct('_id', forNobody));
    expect(await mailLogs.countDocuments({ projectId })).toBe(0);
    const id = await eventually(() => {
      const mine = ids.map((id) => id.toHexString()).find((id) => handedOut.includes(id));
      if (mine === undefined) throw new Error('Not handed out yet');
      return mine;
    });
    expect(await handler(eventOf(id))).toEqual({ batchItemFailures: [] });
    expect(await mailLogs.findOne({ _id: new ObjectId(id) })).toBeNull();
    expect(provider.asked).toHaveLength(asked);
  });
});

describe('when the provider fails with', () => {
  test.each([
    ['429', [429]],
    ['500', [500]],
    ['408 and 503', [408, 503]],
    ['a cut connection', ['cut']],
    ['an answer that got lost', ['lose the answer']],
    ['one after the other', [429, 'cut', 500, 'lose the answer', 502]],
  ] as const)('%s: the email is retried and arrives one time', async (_title, faults) => {
    const to = newAddress();
    provider.next(...faults);
    delivering = true;
    await queueMail(mailFor(to));
    const log = await settled(to);
    expect(log).toMatchObject({ status: accepted });
    expect(log).not.toHaveProperty('reason');
    // If the response was lost, an event of the provider can report the email before the retry.
    const enough = (faults as readonly HttpFault[]).indexOf('lose the answer') + 1 || faults.length + 1;
    const requests = requestsFor(log._id.toHexString());
    expect(requests).toBeGreaterThanOrEqual(enough);
    expect(requests).toBeLessThanOrEqual(faults.length + 1);
    expect(await mailsTo(to)).toHaveLength(1);
  });

  test.each([400, 401, 403, 404, 422])('%s: the email fails immediately', async (status) => {
    const to = newAddress();
    provider.next(status);
    delivering = true;
    await queueMail(mailFor(to));
    const log = await settled(to);
    expect(log).toMatchObject({ status: 'failed', reason: 'application_error: Said by the test' });
    expect(log).not.toHaveProperty('job');
    expect(requestsFor(log._id.toHexString())).toBe(1);
    expect(await mailsTo(to)).toEqual([]);
  });

  test('permanent 500: the email fails after its last attempt and is in the dead-letter queue', async () => {
    const to = newAddress();
    provider.meet(500);
    delivering = true;
    await queueMail(mailFor(to));
    const log = await settled(to);
    expect(log).toMatchObject({ status: 'failed' });
    expect(log).not.toHaveProperty('job');
    const id = log._id.toHexString();
    expect(requestsFor(id)).toBe(mailTries);
    const dead = new ReceiveMessageCommand({ QueueUrl: `${queueUrl}-dead`, WaitTimeSeconds: 5 });
    const { Messages = [] } = await sqs.send(dead);
    expect(Messages.map(({ Body }) => Body)).toEqual([id]);
  });

  test('permanent 500 from the project’s own account: the email fails without a dead letter', async () => {
    const { id: projectId } = await newMailProject('free');
    const to = newAddress();
    await queueMail({ ...mailFor(to), projectId, usingByok: true });
    const id = await idFor(to);
    provider.meet(500);
    expect(await deliverMail(id, mailTries - 1)).toMatchObject({ done: false });
    expect(await deliverMail(id, mailTries)).toEqual({ done: true });
    expect(await logFor(to)).toMatchObject({ status: 'failed' });
  });

  test('only failed emails return to the queue when a batch is processed', async () => {
    const [first, second, third] = [await heldMail(), await heldMail(), await heldMail()];
    await mailLogs.updateOne({ to: second.to }, { $set: { 'job.content': 'AQ' } });
    const { batchItemFailures } = await handler(eventOf(first.id, second.id, third.id));
    expect(batchItemFailures).toEqual([{ itemIdentifier: `message-${second.id}` }]);
    const logs = await Promise.all([first, second, third].map(({ to }) => logFor(to)));
    expect(logs.map(({ status }) => status)).toEqual([accepted, 'queued', accepted]);
  });

  test('an email fails unsent when it is too old for the provider to recognise a repeat', async () => {
    const { to, id } = await heldMail();
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 21 * 3600_000);
    await deliverMail(id, 1);
    expect(await logFor(to)).toMatchObject({ status: 'failed', reason: 'Not accepted in time' });
    expect(requestsFor(id)).toBe(0);
  });
});

describe('a malformed message', () => {
  test.each(['', 'x', '{"$ne":null}', '0'.repeat(24)])('"%s" is dropped', async (body) => {
    expect(await handler(eventOf(body))).toEqual({ batchItemFailures: [] });
  });
});

describe('when the queue is down', () => {
  test('503 SERVICE_UNAVAILABLE; the email is sent when the queue is available again', async () => {
    const to = newAddress();
    delivering = true;
    await way.refuse();
    await expect(queueMail(mailFor(to))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfter: 5 });
    await way.heal();

    const { job } = await logFor(to);
    await requeueMail();
    expect(await logFor(to)).toMatchObject({ status: 'queued', job });
    expect(Number(job?.lostAt) - Date.now()).toBeLessThanOrEqual(16 * 60_000);
    // Earlier than the emails of other tests, which would be delivered here too.
    await mailLogs.updateOne({ to }, { $set: { 'job.lostAt': new Date(Date.now() + 60_000) } });
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 61_000);
    expect(await requeueMail()).toBeGreaterThanOrEqual(1);
    expect(await settled(to)).toMatchObject({ status: accepted });
    expect(await mailsTo(to)).toHaveLength(1);
  });

  test('503 SERVICE_UNAVAILABLE when it does not respond', async () => {
    way.hang();
    await expect(queueMail(mailFor(newAddress()))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await way.heal();
  });

  test('an email is not queued a second time when its retry is pending', async () => {
    const { to, id } = await heldMail();
    provider.next(500);
    await deliverMail(id, 1);
    const { job } = await logFor(to);
    await requeueMail();
    expect((await logFor(to)).job).toEqual(job);
    expect(handedOut.filter((body) => body === id)).toHaveLength(1);
  });
});
