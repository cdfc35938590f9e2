import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Health } from '../../shared/usage/health.ts';
import type { Answer } from '../support/clients/client.ts';
import { eventually } from '../support/clients/eventually.ts';
import { promisedMs } from '../support/data/promised.ts';
import { type FaultyStack, startFaultyStack } from '../support/faults/faulty-stack.ts';

let stack: FaultyStack;

beforeAll(async () => {
  stack = await startFaultyStack();
});

const heal = () =>
  Promise.all([stack.mongo.heal(), stack.dynamo.heal(), stack.files.heal(), stack.signalQueue('SIGCONT')]);

afterEach(heal);

afterAll(() => stack.stop());

interface Told {
  readonly success: boolean;
  readonly code?: string;
  readonly message: string;
  readonly requestId?: string;
  readonly data: Health;
}

const ask = async (api: 'api' | 'dashboard' = 'api'): Promise<Answer<Told> & { readonly ms: number }> => {
  const begin = performance.now();
  const answer = await stack[api]<Told>('GET', '/api/health');
  return { ...answer, ms: performance.now() - begin };
};

const breaks: readonly [string, string, () => Promise<unknown>][] = [
  ['mongodb, files', 'are stopped', () => Promise.all([stack.mongo.freeze(), stack.files.freeze()])],
  [
    'dynamodb, queues',
    'refuse connections or are stopped',
    () => Promise.all([stack.dynamo.proxy.refuse(), stack.signalQueue('SIGSTOP')]),
  ],
];

describe('503 with the failed parts in bounded time, and 200 after they recover', () => {
  test.each(breaks)('when %s %s', async (names, _how, fail) => {
    // A part that is well may be late too, on a machine that is.
    await expect.poll(async () => (await ask()).status).toBe(200);
    await fail();
    const message = `Not every part of the service responds: ${names}. Retry.`;
    const parts = Object.fromEntries(names.split(', ').map((name) => [name, { ok: false }]));
    await eventually(async () => {
      const { status, body, headers, ms } = await ask();
      const requestId = headers.get('x-request-id');
      expect({ status, body }).toMatchObject({
        status: 503,
        body: { success: false, code: 'SERVICE_UNAVAILABLE', message, requestId, data: { status: 'degraded', parts } },
      });
      expect(Object.values(body.data.parts).filter(({ ok }) => !ok)).toHaveLength(2);
      expect(headers.get('retry-after')).toBe('5');
      expect(ms).toBeLessThan(promisedMs);
    });
    expect((await ask('dashboard')).body.data.status).toBe('degraded');
    await heal();
    await expect.poll(async () => (await ask()).status, { timeout: 60_000, interval: 200 }).toBe(200);
  });
});
