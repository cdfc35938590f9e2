import { randomInt } from 'node:crypto';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { inParallel, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { eventOf, signedHeaders } from '../../support/clients/webhook.ts';

const first = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const second = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
const notConfigured = { status: 200, body: { success: true, message: 'Webhook ignored: secret not configured.' } };
const refused = { status: 400, body: { code: 'INVALID_SIGNATURE' } };
const ignored = { status: 200, body: { success: true } };

/** Settings are read once per process, so each test loads the handler again. */
const handlerWith = async (MAIL_WEBHOOK_SECRET: string) => {
  Object.assign(process.env, { MAIL_WEBHOOK_SECRET, RATE_LIMIT: '5', RATE_BLOCK: '1' });
  vi.resetModules();
  const { handler } = await import('../../../functions/mail/webhook/receive-webhook.ts');
  // A window that ends during a test would allow more.
  const now = Date.now();
  (await import('../../../shared/core/clock.ts')).clock.now = () => now;
  return handler;
};

let sourceIp: string;
beforeEach(() => {
  sourceIp = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
});

const body = eventOf('email.opened', {});
const headers = (secret: string) => signedHeaders(Buffer.from(JSON.stringify(body)), { secret });

describe('Without a valid secret', () => {
  test.each(['', ' ', 'not-a-secret', 'whsec_', 'whsec_%%%', Buffer.alloc(24).toString('base64')])(
    '200 and nothing is done ("%s")',
    async (setting) => {
      const handler = await handlerWith(setting);
      for (const secret of [first, second]) {
        const answer = await invoke(handler, { method: 'POST', body, headers: headers(secret), sourceIp });
        expect([answer.status, answer.body]).toEqual([notConfigured.status, notConfigured.body]);
      }
    },
  );

  test('200 without headers and with a huge body', async () => {
    const handler = await handlerWith('');
    expect(await invoke(handler, { method: 'POST', sourceIp })).toMatchObject(notConfigured);
    expect(await invoke(handler, { method: 'POST', body: ' '.repeat(3_000_000), sourceIp })).toMatchObject(
      notConfigured,
    );
  });
});

describe('While one secret replaces another', () => {
  test.each([', ', ',', ' ', '\n'])('both are valid, separated by %j', async (separator) => {
    const handler = await handlerWith([first, second].join(separator));
    for (const secret of [first, second]) {
      expect(await invoke(handler, { method: 'POST', body, headers: headers(secret), sourceIp })).toMatchObject(
        ignored,
      );
    }
  });

  test('400 with the old one after its removal', async () => {
    const handler = await handlerWith(second);
    expect(await invoke(handler, { method: 'POST', body, headers: headers(first), sourceIp })).toMatchObject(refused);
  });
});

describe('The limit of requests', () => {
  test('ignores signed deliveries, of which one address may send many', async () => {
    const handler = await handlerWith(first);
    const answers = await inParallel(50, () =>
      invoke(handler, { method: 'POST', body, headers: headers(first), sourceIp }),
    );
    expect(tally(answers)).toEqual({ 200: 50 });
  });

  test('429 for a flood of unsigned deliveries', async () => {
    const handler = await handlerWith(first);
    const answers = await inParallel(50, () => invoke(handler, { method: 'POST', body, sourceIp }));
    expect(tally(answers)).toEqual({ 400: 5, 429: 45 });
    expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  test('passes signed deliveries even then', async () => {
    const handler = await handlerWith(first);
    await inParallel(10, () => invoke(handler, { method: 'POST', body, sourceIp }));
    expect(await invoke(handler, { method: 'POST', body, headers: headers(first), sourceIp })).toMatchObject(ignored);
  });
});
