import { afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { handler as getDashboardHealth } from '../../../functions/dashboard/service/get-dashboard-health.ts';
import { handler as getHealth } from '../../../functions/service/get-health.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { clock } from '../../../shared/core/clock.ts';
import { call, inParallel, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';

listenToCommands();

const realNow = clock.now;
const frozen = Date.now();

beforeAll(() => {
  clock.now = () => frozen;
});
afterEach(() => {
  clock.now = realNow;
});

const well = { ok: true, ms: expect.any(Number) };
const checks = [
  'dynamodb UpdateItemCommand',
  'mongodb find',
  's3 HeadBucketCommand',
  'sqs GetQueueAttributesCommand',
  'sqs GetQueueAttributesCommand',
  'sqs GetQueueAttributesCommand',
];

describe('GET /api/health', () => {
  test('each part is checked once in 2 s for any number of requests', async () => {
    clock.now = () => frozen + 10_000;
    const first = commandsOf(async () => {
      const answers = await inParallel(50, (index) => invoke(index % 2 ? getHealth : getDashboardHealth));
      expect(tally(answers)).toEqual({ 200: 50 });
    });
    expect(await first).toEqual(checks);
    clock.now = () => frozen + 11_999;
    expect(await commandsOf(() => invoke(getHealth))).toEqual([]);
    clock.now = () => frozen + 12_001;
    expect(await commandsOf(() => invoke(getHealth))).toEqual(checks);
  });

  test.each(['baseUrl', 'dashboardUrl'] as const)('200 with every part of the service: %s', async (api) => {
    const answer = await call(inject('stack')[api], 'GET', '/api/health');
    expect(answer).toMatchObject({
      status: 200,
      body: {
        success: true,
        data: {
          status: 'ok',
          version: packageJson.version,
          parts: { mongodb: well, dynamodb: well, files: well, queues: well, encryption: well },
        },
      },
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test.each(['baseUrl', 'dashboardUrl'] as const)('HEAD returns the status of GET without a body: %s', async (api) => {
    const ask = (method: string, path = '/api/health') => fetch(`${inject('stack')[api]}${path}`, { method });
    const [head, get] = [await ask('HEAD'), await ask('GET')];
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    // Only for a GET does Node state how long it keeps the connection.
    const named = ({ headers }: Response) => [...headers.keys()].filter((name) => name !== 'keep-alive');
    expect(named(head)).toEqual(named(get));
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    expect((await ask('HEAD', '/api/openapi.json')).status).toBe(404);
  });

  test('200 without addresses of the parts', async () => {
    const { env, mongoUri } = inject('stack');
    const text = JSON.stringify((await call(inject('stack').baseUrl, 'GET', '/api/health')).body);
    for (const secret of [mongoUri, env.ENCRYPTION_KEY, env.MAIL_QUEUE_URL, env.AWS_ENDPOINT_URL_DYNAMODB]) {
      expect(secret).toMatch(/./);
      expect(text).not.toContain(secret);
    }
    expect(text).not.toMatch(/127\.0\.0\.1|mongodb:|https?:/);
  });
});
