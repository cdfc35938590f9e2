import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { mailLogs } from '../../shared/mail/log.ts';
import { mailsTo } from '../support/clients/inbox.ts';
import { newMailProject } from '../support/fixtures/mail-project.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

interface Log {
  readonly to: readonly string[];
  readonly status: string;
  readonly providerEmailId: string;
}

const patienceMs = 120_000;
let project: TestProject;

beforeAll(async () => {
  project = await newProject();
});

const send = (to: string | readonly string[], by = project) =>
  by.api<{ data: { id: string } }>('POST', '/api/mail/send', { body: { to, subject: 'Hi', html: '<p>Hi</p>' } });

const logOf = async (to: string, by = project): Promise<Log | undefined> => {
  const { body } = await by.api<{ data: readonly Log[] }>('GET', '/api/mail/logs');
  return body.data.find((log) => log.to.includes(to));
};

/** Waits until the email to an address has a status. Fails after two minutes with its current status. */
const statusOf = async (to: string, status: string, by = project): Promise<void> => {
  const end = Date.now() + patienceMs;
  let log = await logOf(to, by);
  while (log?.status !== status && Date.now() < end) {
    await pause(50);
    log = await logOf(to, by);
  }
  expect(log?.status).toBe(status);
};

const label = (word: string): string => `${word}+${randomUUID()}@resend.dev`;

describe('email on this machine', () => {
  test('is delivered when the event arrives at the function URL', async () => {
    const to = `reader-${randomUUID()}@example.com`;
    expect(await send(to)).toMatchObject({ status: 200 });
    await statusOf(to, 'delivered');
    expect(await mailsTo(to)).toHaveLength(1);
    const log = await logOf(to);
    const live = await project.api<{ data: { providerStatus: object } }>(
      'GET',
      `/api/mail/logs/${log?.providerEmailId}`,
    );
    expect(live.body.data.providerStatus).toMatchObject({ last_event: 'delivered' });
  });

  test.each([
    ['delivered', 'delivered'],
    ['bounced', 'bounced'],
    ['softbounced', 'bounced'],
    ['complained', 'complained'],
  ])('to %s@resend.dev ends as %s', async (word, status) => {
    const to = label(word);
    await send(to);
    await statusOf(to, status);
  });

  test('is queued again when it was sent to delayed@resend.dev', async () => {
    const to = label('delayed');
    await send(to);
    // `sent` lasts a moment; before that, the email is `queued` too.
    const afterwards = async () => {
      const log = await logOf(to);
      return log?.providerEmailId ? log.status : undefined;
    };
    await expect.poll(afterwards).toBe('queued');
    const [{ id } = { id: '' }, ...more] = await mailsTo(to);
    expect(more).toEqual([]);
    const shown = await fetch(`${inject('stack').env.MAIL_PROVIDER_URL}/emails/${id}`);
    expect(await shown.json()).toMatchObject({ last_event: 'delivery_delayed' });
  });

  test('stays sent when it goes to silent@resend.dev', async () => {
    const to = label('silent');
    await send(to);
    await statusOf(to, 'sent');
    const later = `later-${randomUUID()}@example.com`;
    await send(later);
    await statusOf(later, 'delivered');
    expect(await logOf(to)).toMatchObject({ status: 'sent' });
  });

  test('is not sent when an earlier one to its address bounced', async () => {
    const to = label('bounced');
    await send(to);
    await statusOf(to, 'bounced');
    await send(to);
    await statusOf(to, 'failed');
    expect(await mailsTo(to)).toHaveLength(1);
  });

  test.each(['ratelimited', 'error'])(
    'to %s@resend.dev waits, because the provider refuses it for now',
    async (word) => {
      const to = label(word);
      await send(to);
      const refused = () => mailLogs.findOne({ to, reason: { $type: 'string' } });
      await expect.poll(refused).not.toBeNull();
      expect(await logOf(to)).toMatchObject({ status: 'queued' });
      expect(await mailsTo(to)).toEqual([]);
    },
  );

  test('is delivered when the project has its own key', async () => {
    const own = await newMailProject('free');
    const to = `own-${randomUUID()}@example.com`;
    await send(to, own);
    await statusOf(to, 'delivered', own);
  });
});

describe('fake mail provider', () => {
  const ask = async (
    method: string,
    path: string,
    options: { key?: string; body?: object; idempotencyKey?: string } = {},
  ) => {
    const { key, body, idempotencyKey } = options;
    const response = await fetch(`${inject('stack').env.MAIL_PROVIDER_URL}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(key && { authorization: `Bearer ${key}` }),
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  };

  const mail = (to: string) => ({ from: 'a@b.cd', to, subject: 'Hi', html: 'Hi' });

  test('429 and 500 when the recipient is a test address', async () => {
    const limited = await ask('POST', '/emails', { body: mail('ratelimited@resend.dev') });
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await ask('POST', '/emails', { body: mail('Error <error+x@resend.dev>') })).status).toBe(500);
    expect((await ask('POST', '/emails/batch', { body: [mail('a@b.cd'), mail('error@resend.dev')] })).status).toBe(500);
  });

  test('401 when the key is missing or begins with re_invalid', async () => {
    expect((await ask('GET', '/audiences')).status).toBe(401);
    expect((await ask('GET', '/audiences', { key: 're_invalid_1' })).status).toBe(401);
    expect((await ask('POST', '/emails', { key: 're_invalid_1', body: mail('a@b.cd') })).status).toBe(401);
    expect((await ask('GET', '/audiences', { key: 're_1' })).status).toBe(200);
  });

  test('sends an email one time when the idempotency key is the same', async () => {
    const to = `once-${randomUUID()}@example.com`;
    const idempotencyKey = randomUUID();
    const answers = [];
    for (let n = 0; n < 3; n++) answers.push((await ask('POST', '/emails', { body: mail(to), idempotencyKey })).text);
    expect(new Set(answers).size).toBe(1);
    expect(await mailsTo(to)).toHaveLength(1);
  });

  test('shows its inbox', async () => {
    const to = `inbox-${randomUUID()}@example.com`;
    await ask('POST', '/emails', { body: mail(to) });
    const { status, headers, text } = await ask('GET', '/inbox');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/html');
    expect(text).toContain(to);
  });
});
