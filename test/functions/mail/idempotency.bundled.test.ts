import { randomBytes } from 'node:crypto';
import { Collection, MongoNetworkError, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { handler as sendBatch } from '../../../functions/mail/send-batch.ts';
import { handler as sendMail } from '../../../functions/mail/send-mail.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { requestIds } from '../../../shared/core/ids.ts';
import { comparableJson } from '../../../shared/core/json.ts';
import type { LambdaHandler } from '../../../shared/http/stack.ts';
import { type MailLog, mailLogs } from '../../../shared/mail/log.ts';
import { mailUsage } from '../../../shared/mail/quota.ts';
import { newLog } from '../../../shared/mail/send.ts';
import {
  acquireKey,
  keyedRequest,
  noteFailure,
  type Run,
  recordResponse,
} from '../../../shared/persistence/idempotency.ts';
import { inParallel } from '../../support/clients/client.ts';
import { mailsTo, mailTo } from '../../support/clients/inbox.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { oneAnswer } from '../../support/clients/one-answer.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { HttpProxy } from '../../support/faults/http-proxy.ts';
import { FaultProxy } from '../../support/faults/proxy.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
let provider: HttpProxy;
let table: FaultProxy;
let project: TestProject;

beforeAll(async () => {
  provider = await HttpProxy.start(inject('stack').env.MAIL_PROVIDER_URL ?? '');
  process.env.MAIL_PROVIDER_URL = provider.url;
  table = await FaultProxy.start({ port: Number(new URL(inject('stack').dynamoUrl).port) });
  process.env.AWS_ENDPOINT_URL_DYNAMODB = `http://127.0.0.1:${table.port}`;
});
beforeEach(async () => {
  project = await newProject();
});
afterEach(async () => {
  vi.restoreAllMocks();
  forgetProjects();
  provider.heal();
  await table.heal();
});
afterAll(() => Promise.all([provider.close(), table.close()]));

const newKey = (): string => randomBytes(9).toString('base64url');
const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.com`;
const mailOf = (to = newAddress()) => ({ to, subject: 'Hello', text: 'Hi' });
const batchOf = (count: number) => Array.from({ length: count }, () => mailOf());

const call = (handler: LambdaHandler, key: string, body: unknown, by = project) =>
  invoke(handler, { method: 'POST', key: by.secretKey, body, headers: { 'idempotency-key': key } });

const used = async (): Promise<number> => (await mailUsage(await domainProject(project))).used;
const logs = (): Promise<MailLog[]> => mailLogs.find({ projectId: new ObjectId(project.id) });
const batches = () => provider.asked.filter(({ path }) => path === '/emails/batch').length;

const inProgress = { status: 409, body: { code: 'IDEMPOTENCY_IN_PROGRESS' } };
const reused = { status: 409, body: { code: 'IDEMPOTENCY_KEY_REUSED' } };

/** Part of the write that takes a key for a new run. */
const taking = 'attribute_not_exists(pk) OR expiresAt';

const later = (seconds: number): void => {
  const now = Date.now() + seconds * 1000;
  vi.spyOn(clock, 'now').mockReturnValue(now);
  forgetProjects();
};

const requestOf = (key: string, body: unknown) =>
  keyedRequest('secret', key, ['POST', '/', '', '', comparableJson(JSON.stringify(body))]);

/** A key whose run crashed before it did anything, and the ids of its emails. */
const claimed = async (key: string, body: unknown, mails = 1): Promise<{ run: Run; ids: readonly ObjectId[] }> => {
  const state = await acquireKey(project.id, requestOf(key, body), true);
  if (state.kind !== 'acquired') throw new Error('The key was free');
  const { seed, begunAt } = state.run;
  return { run: state.run, ids: requestIds(seed, begunAt, true).earlier?.(mails) ?? [] };
};

const rowOf = (_id: ObjectId, more: Partial<MailLog> = {}): MailLog => ({
  ...newLog({
    _id,
    projectId: project.id,
    to: ['a@example.com'],
    subject: 'Hello',
    usingByok: false,
    templateUsed: null,
  }),
  ...more,
});

describe('an email with an Idempotency-Key', () => {
  test('200 with the first response for each repeat: one email, one slot, one log entry, at the cost of two updates', async () => {
    const [key, body] = [newKey(), mailOf()];
    // A stopped clock keeps caches valid.
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await call(sendMail, newKey(), mailOf());
    let first: unknown;
    const commands = await commandsOf(async () => {
      first = (await call(sendMail, key, body)).body;
    });
    expect(commands.filter((command) => command.startsWith('dynamodb'))).toHaveLength(5);
    for (let times = 0; times < 3; times++) {
      expect(await call(sendMail, key, body)).toMatchObject({ status: 200, body: first as object });
    }
    await mailTo(body.to);
    expect([(await logs()).length, await used(), (await mailsTo(body.to)).length]).toEqual([2, 2, 1]);
  });

  test('200 for 50 concurrent requests, of which one sends', async () => {
    const [key, body] = [newKey(), mailOf()];
    const answer = await oneAnswer(200, () => call(sendMail, key, body));
    expect(await call(sendMail, key, body)).toMatchObject({ status: 200, body: answer });
    await mailTo(body.to);
    expect([(await logs()).length, await used(), (await mailsTo(body.to)).length]).toEqual([1, 1, 1]);
  });

  test('409 IDEMPOTENCY_KEY_REUSED with another body or for a batch; keys belong to their project', async () => {
    const [key, body] = [newKey(), mailOf()];
    expect((await call(sendMail, key, body)).status).toBe(200);
    expect(await call(sendMail, key, { ...body, subject: 'Other' })).toMatchObject(reused);
    expect(await call(sendBatch, key, [body])).toMatchObject(reused);
    const other = await newProject();
    expect((await call(sendMail, key, { ...body, subject: 'Other' }, other)).status).toBe(200);
    expect(await logs()).toHaveLength(1);
  });

  test('200 and another email after 24 hours', async () => {
    const [key, body] = [newKey(), mailOf()];
    const first = await call(sendMail, key, body);
    later(24 * 3600 - 60);
    expect(await call(sendMail, key, body)).toMatchObject({ status: 200, body: first.body });
    later(24 * 3600 + 60);
    expect((await call(sendMail, key, body)).status).toBe(200);
    expect(await logs()).toHaveLength(2);
  });

  test('200 for 50 concurrent requests when the table loses a response and applies the write later', async () => {
    const [key, body] = [newKey(), mailOf()];
    let unlucky: string | undefined;
    const hung = table.meet(
      (chunk) => {
        const [, runId = ''] = /":run":\{"S":"([^"]+)"/.exec(chunk.toString()) ?? [];
        unlucky ??= runId;
        return runId === unlucky ? 'hang' : undefined;
      },
      { of: taking },
    );
    const answer = await oneAnswer(200, () => call(sendMail, key, body));
    expect(hung()).toBe(2);
    await table.heal();
    const again = await call(sendMail, key, body);
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([200, answer, 'true']);
    await mailTo(body.to);
    expect([(await logs()).length, await used(), (await mailsTo(body.to)).length]).toEqual([1, 1, 1]);
  });

  test('200 with the first response when the write that took the key arrives a second time later', async () => {
    const [key, body] = [newKey(), mailOf()];
    const hung = table.meet('hang', { of: taking, times: 1 });
    const first = await call(sendMail, key, body);
    expect([hung(), first.status]).toEqual([1, 200]);
    await table.heal();
    const again = await call(sendMail, key, body);
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([200, first.body, 'true']);
  });

  test('404 is stored too: a corrected email needs another key', async () => {
    const [key, body] = [newKey(), mailOf()];
    const wrong = { to: body.to, templateName: 'none' };
    const refused = await call(sendMail, key, wrong);
    expect(refused.status).toBe(404);
    const again = await call(sendMail, key, wrong);
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([404, refused.body, 'true']);
    expect(await call(sendMail, key, body)).toMatchObject(reused);
  });

  test.each(['', ' ', 'x'.repeat(256), 'ü', 'a\u0000b', 'a\nb'])(
    '400 VALIDATION_FAILED for the key %j',
    async (key) => {
      expect(await call(sendMail, key, mailOf())).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', errors: [{ field: 'Idempotency-Key' }] },
      });
      expect(await logs()).toEqual([]);
    },
  );
});

describe('a run that crashed after it took the key', () => {
  test('409 IDEMPOTENCY_IN_PROGRESS while the function may be running; then 50 concurrent repeats send once under the same id', async () => {
    const [key, body] = [newKey(), mailOf()];
    const { ids } = await claimed(key, body);
    expect(await call(sendMail, key, body)).toMatchObject(inProgress);
    later(36);
    const answer = await oneAnswer(200, () => call(sendMail, key, body));
    expect(answer).toMatchObject({ data: { id: ids[0]?.toHexString() } });
    await mailTo(body.to);
    expect([(await logs()).length, await used(), (await mailsTo(body.to)).length]).toEqual([1, 1, 1]);
  });

  test('200 immediately when the run reported its failure', async () => {
    const [key, body] = [newKey(), mailOf()];
    const { run, ids } = await claimed(key, body);
    await noteFailure(run, { nothingDone: false });
    expect(await call(sendMail, key, body)).toMatchObject({
      status: 200,
      body: { data: { id: ids[0]?.toHexString() } },
    });
  });

  test('503 keeps the key for its email: another body gets 409, the same body continues with the same email and slot', async () => {
    const [key, body] = [newKey(), mailOf()];
    await call(sendMail, newKey(), mailOf());
    vi.spyOn(Collection.prototype, 'insertOne').mockRejectedValueOnce(new MongoNetworkError('cut'));
    expect((await call(sendMail, key, body)).status).toBe(503);
    expect(await call(sendMail, key, { ...body, subject: 'Other' })).toMatchObject(reused);
    expect((await call(sendMail, key, body)).status).toBe(200);
    expect([(await logs()).length, await used()]).toEqual([2, 2]);
  });

  test('is claimed by one of 50 concurrent requests, and its late writes change nothing', async () => {
    const [key, body] = [newKey(), mailOf()];
    const { run } = await claimed(key, body);
    later(36);
    const take = () => acquireKey(project.id, requestOf(key, body), true);
    const standings = await inParallel(50, take);
    expect(standings.filter(({ kind }) => kind === 'acquired')).toHaveLength(1);
    expect(standings.filter(({ kind }) => kind === 'in_progress')).toHaveLength(49);
    await recordResponse(run, { status: 200, headers: '{}', body: '"too late"' });
    expect(await take()).toEqual({ kind: 'in_progress' });
    for (const nothingDone of [true, false]) {
      await noteFailure(run, { nothingDone });
      expect(await take()).toEqual({ kind: 'in_progress' });
    }
  });

  test('200 with its email when that was accepted; no second one is sent', async () => {
    const [key, body] = [newKey(), mailOf()];
    const { ids } = await claimed(key, body);
    const [id = new ObjectId()] = ids;
    await mailLogs.insertOne(rowOf(id, { status: 'sent' }));
    later(36);
    for (let times = 0; times < 2; times++) {
      expect(await call(sendMail, key, body)).toMatchObject({ status: 200, body: { data: { id: id.toHexString() } } });
    }
    expect([(await logs()).length, await used()]).toEqual([1, 0]);
  });
});

describe('a batch with an Idempotency-Key', () => {
  test('200 for 50 concurrent requests with one call to the provider; repeats get the same ids', async () => {
    const [key, body, asked] = [newKey(), batchOf(3), batches()];
    const answer = await oneAnswer(200, () => call(sendBatch, key, body));
    expect(await call(sendBatch, key, body)).toMatchObject({ status: 200, body: answer });
    expect([batches() - asked, (await logs()).length, await used()]).toEqual([1, 3, 3]);
    for (const { to } of body) expect(await mailsTo(to)).toHaveLength(1);
  });

  test('200 when an earlier run crashed before it wrote anything: sent once, under its ids', async () => {
    const [key, body, asked] = [newKey(), batchOf(2), batches()];
    const { ids } = await claimed(key, body, 2);
    later(36);
    expect((await call(sendBatch, key, body)).status).toBe(200);
    expect((await logs()).map(({ _id }) => _id.toHexString()).sort()).toEqual(ids.map((id) => id.toHexString()).sort());
    expect(batches() - asked).toBe(1);
  });

  test('200 with the log of an earlier run that crashed later: nothing is sent twice', async () => {
    const [key, body, asked] = [newKey(), batchOf(3), batches()];
    const { ids } = await claimed(key, body, 3);
    const [sent = new ObjectId(), open = new ObjectId(), nobody = new ObjectId()] = ids;
    await mailLogs.insertMany([
      rowOf(sent, { status: 'sent', providerEmailId: `p-${sent.toHexString()}` }),
      rowOf(open),
      rowOf(nobody, { status: 'failed', reason: 'suppressed' }),
    ]);
    later(36);
    const message = (text: string) => ({ error: { message: expect.stringContaining(text) as unknown } });
    expect(await call(sendBatch, key, body)).toMatchObject({
      status: 200,
      body: {
        data: [{ id: `p-${sent.toHexString()}` }, message('The mail log will show'), message('suppressed')],
      },
    });
    expect(batches()).toBe(asked);
  });
});
