import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mapConcurrent } from '../../shared/core/concurrency.ts';
import { type Answer, call } from '../support/clients/client.ts';
import { descendantsOf, stillRunning } from '../support/clients/local-start.ts';
import { type RunningStack, startTestStack, type TestStack } from '../support/clients/start-stack.ts';
import { type Chain, Ledger, type LoadTarget, writeUntilGone } from '../support/clients/write-load.ts';
import { killHard } from '../support/faults/kill-hard.ts';

let directory: string;
let stack: RunningStack;
let target: LoadTarget;
const ledger = new Ledger();

interface Created {
  readonly _id: string;
  readonly data: { readonly accessToken: string; readonly _id: string; readonly secretKey: string };
}

const prepare = async ({ baseUrl, dashboardUrl }: TestStack): Promise<LoadTarget> => {
  const post = (where: string, token: string, body: unknown) =>
    call<Created>(dashboardUrl, 'POST', where, { body, ...(token && { token }) });
  const developer = { email: 'durable@example.com', password: 'durable-password' };
  const { accessToken } = (await post('/api/auth/register', '', developer)).body.data;
  const { _id, secretKey } = (await post('/api/projects', accessToken, { name: 'durable' })).body.data;
  await post(`/api/projects/${_id}/collections`, accessToken, { name: 'notes', schema: null });
  const counter = () => call<Created>(baseUrl, 'POST', '/api/data/notes', { key: secretKey, body: { value: 0 } });
  const counters = await Promise.all([counter(), counter(), counter()]);
  return { secretKey, counters: counters.map(({ body }) => body._id) };
};

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-durability-'));
  stack = await startTestStack(directory);
  target = await prepare(stack);
});

afterAll(async () => {
  await stack.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** Every document of the collection, page by page, and the total that the last page gave. */
const allNotes = async (): Promise<{ numbers: number[]; documents: number; total: number }> => {
  const numbers: number[] = [];
  let documents = 0;
  for (let cursor: string | null = ''; ; ) {
    const where: string = `/api/data/notes?limit=1000&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await call<{
      data: { items: { n?: number }[]; nextCursor: string | null; total: number };
    }>(stack.baseUrl, 'GET', where, { key: target.secretKey });
    const { items, nextCursor, total } = body.data;
    documents += items.length;
    numbers.push(...items.flatMap(({ n }) => n ?? []));
    if (nextCursor === null) return { numbers, documents, total };
    cursor = nextCursor;
  }
};

const expectInserted = async (): Promise<void> => {
  const { numbers, documents, total } = await allNotes();
  expect(new Set(numbers).size).toBe(numbers.length);
  const stored = new Set(numbers);
  expect(ledger.inserted.filter((n) => !stored.has(n))).toEqual([]);
  expect(total).toBe(documents);
};

const expectUpdated = async (): Promise<void> => {
  for (const [id, { acknowledged, sent }] of ledger.counters) {
    const { body } = await call<{ value: number }>(stack.baseUrl, 'GET', `/api/data/notes/${id}`, {
      key: target.secretKey,
    });
    expect(acknowledged).toBeGreaterThan(0);
    expect(body.value).toBeGreaterThanOrEqual(acknowledged);
    expect(body.value).toBeLessThanOrEqual(sent);
  }
};

const expectRegistered = async (): Promise<void> => {
  const logIns: Answer[] = [];
  // A few at a time, because all of them together would not respond in time.
  await mapConcurrent(ledger.registered, 10, async (body) => {
    logIns.push(await call(stack.dashboardUrl, 'POST', '/api/auth/login', { body }));
  });
  expect(logIns).toHaveLength(ledger.registered.length);
  expect(logIns.filter(({ status }) => status !== 200)).toEqual([]);
};

/** Every session has one refresh token that is good: a rotation happened as a whole or not at all. */
const expectWholeSessions = async (): Promise<void> => {
  const client = new DynamoDBClient({
    endpoint: stack.dynamoUrl,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const good = new Map<string, number>();
  const sessions: string[] = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: 'basalt', ConsistentRead: true })) {
    for (const { sk, sessionId, usedAt } of Items) {
      if (sk?.S?.startsWith('session#')) sessions.push(sk.S.split('#')[2] ?? '');
      if (sessionId?.S && !usedAt) good.set(sessionId.S, (good.get(sessionId.S) ?? 0) + 1);
    }
  }
  client.destroy();
  expect(sessions.length).toBeGreaterThan(0);
  expect(good).toEqual(new Map(sessions.map((id) => [id, 1])));
};

const expectRefreshes = async ({ cookie, previous, uncertain }: Chain): Promise<void> => {
  const refresh = async (used: string): Promise<number> =>
    (await call(stack.dashboardUrl, 'POST', '/api/auth/refresh', { headers: { cookie: used } })).status;
  expect(previous).toBeDefined();
  expect(uncertain ? [200, 401] : [200]).toContain(await refresh(cookie));
  expect(await refresh(previous ?? '')).toBe(401);
};

/** Something of every kind was acknowledged; functions in processes of their own take their time to start. */
const isUnderWay = (insertedBefore: number): boolean =>
  ledger.inserted.length > insertedBefore &&
  target.counters.every((id) => (ledger.counters.get(id)?.acknowledged ?? 0) > 0) &&
  ledger.chains.every(({ previous }) => previous !== undefined);

describe('acknowledged writes survive and no process stays when everything is killed under load', () => {
  test.each([
    ['of the parent, started again at once', false],
    ['of everything', true],
    ['of the parent, once more', false],
  ] as const)('%s', async (_how, everything) => {
    const before = ledger.inserted.length;
    const load = writeUntilGone(stack, target, ledger);
    await expect.poll(() => isUnderWay(before), { timeout: 60_000 }).toBe(true);
    await pause(500 + Math.random() * 700);
    const children = descendantsOf(stack.pid);
    expect(children.length).toBeGreaterThanOrEqual(3);
    for (const pid of [stack.pid, ...(everything ? children : [])]) killHard(pid);
    await load;
    stack = await startTestStack(directory);
    await expect.poll(() => stillRunning(children), { timeout: 60_000, interval: 100 }).toEqual([]);
    expect(ledger.inserted.length).toBeGreaterThan(0);
    await Promise.all([expectInserted(), expectUpdated(), expectWholeSessions()]);
    for (const chain of ledger.chains) await expectRefreshes(chain);
    await expectRegistered();
  });
});
