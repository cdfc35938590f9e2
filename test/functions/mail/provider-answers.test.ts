import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createAudience } from '../../../functions/mail/audiences/create-audience.ts';
import { handler as createContact } from '../../../functions/mail/audiences/create-contact.ts';
import { handler as deleteContact } from '../../../functions/mail/audiences/delete-contact.ts';
import { handler as listAudiences } from '../../../functions/mail/audiences/list-audiences.ts';
import { handler as updateContact } from '../../../functions/mail/audiences/update-contact.ts';
import { handler as createBroadcast } from '../../../functions/mail/broadcasts/create-broadcast.ts';
import { handler as sendBroadcast } from '../../../functions/mail/broadcasts/send-broadcast.ts';
import { clock } from '../../../shared/core/clock.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import type { HttpFault, Reply } from '../../support/faults/fault.ts';
import { hastenLimits } from '../../support/faults/hasten-limits.ts';
import { HttpProxy } from '../../support/faults/http-proxy.ts';
import { newMailProject } from '../../support/fixtures/mail-project.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

let provider: HttpProxy;
let key: string;

beforeAll(async () => {
  provider = await HttpProxy.start();
  process.env.MAIL_PROVIDER_URL = provider.url;
  key = (await newMailProject('pro', 're_own_key')).secretKey;
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(() => provider.close());

const refusing = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers,
  body: { statusCode: status, name: 'said_by_the_test', message },
});

/** The provider responds with this from now on. */
const says = (said: HttpFault): void => {
  provider.heal();
  provider.meet(said);
  provider.asked.length = 0;
};

const list = (said: HttpFault) => {
  says(said);
  return invoke(listAudiences, { key });
};

describe('An error of the provider', () => {
  test.each([
    [400, 400, 'MAIL_PROVIDER_BAD_REQUEST'],
    [401, 401, 'MAIL_PROVIDER_UNAUTHORIZED'],
    [403, 403, 'MAIL_PROVIDER_FORBIDDEN'],
    [404, 404, 'MAIL_PROVIDER_NOT_FOUND'],
    [405, 400, 'MAIL_PROVIDER_BAD_REQUEST'],
    [409, 409, 'MAIL_PROVIDER_CONFLICT'],
    [422, 422, 'MAIL_PROVIDER_UNPROCESSABLE'],
    [451, 400, 'MAIL_PROVIDER_BAD_REQUEST'],
  ])('%i is returned as %i %s with its message', async (status, expected, code) => {
    expect(await list(refusing(status, 'Words of the provider'))).toMatchObject({
      status: expected,
      body: { success: false, code, message: 'The mail provider says: Words of the provider' },
    });
  });

  test.each([
    ['2', '2'],
    ['1.5', '2'],
    [undefined, '1'],
    ['Wed, 21 Oct 2026 07:28:00 GMT', '1'],
  ])('429 is returned with its Retry-After (%s → %s)', async (given, expected) => {
    const answer = await list(refusing(429, 'Too many', given === undefined ? {} : { 'retry-after': given }));
    expect(answer).toMatchObject({ status: 429, body: { code: 'MAIL_PROVIDER_RATE_LIMITED' } });
    expect(answer.headers.get('retry-after')).toBe(expected);
  });

  test('422 is returned with a cut message when that is very long', async () => {
    const { body } = await list(refusing(422, 'x'.repeat(10_000)));
    expect(String(body.message)).toHaveLength('The mail provider says: '.length + 500);
  });
});

describe('A failure of the provider', () => {
  test.each([500, 502, 503])('502 when it responds with %i, without its message', async (status) => {
    const answer = await list(refusing(status, 'secret details'));
    expect(answer).toMatchObject({ status: 502, body: { success: false, code: 'MAIL_PROVIDER_FAILED' } });
    expect(JSON.stringify(answer.body)).not.toContain('secret details');
  });

  test('502 when it responds with a web page', async () => {
    expect(await list({ status: 500, body: '<html>' })).toMatchObject({ status: 502 });
  });

  test.each<readonly [string, HttpFault]>([
    ['the connection ends', 'cut'],
    ['the answer is no JSON', { status: 200, body: 'OK' }],
    ['the refusal has no status', { status: 400, body: '{"error":"x"}' }],
  ])('503 when %s', async (_, said) => {
    const answer = await list(said);
    expect(answer).toMatchObject({ status: 503, body: { success: false, code: 'MAIL_PROVIDER_UNAVAILABLE' } });
    expect(answer.headers.get('retry-after')).toBe('5');
  });

  test('503 when it does not respond for 8 s', async () => {
    const limits = hastenLimits();
    expect(await list('hang')).toMatchObject({ status: 503, body: { code: 'MAIL_PROVIDER_UNAVAILABLE' } });
    expect(limits).toEqual([8000]);
  });
});

describe('The provider is called', () => {
  const params = { audienceId: 'a-1', contactId: 'ada@example.com', id: 'b-1' };

  const askedBy = async (handler: typeof createContact, options: Parameters<typeof invoke>[1]) => {
    says({ body: { id: 'x' } });
    const answer = await invoke(handler, { key, params, method: 'POST', ...options });
    expect(answer.body).toMatchObject({ success: true, data: { id: 'x' } });
    return provider.asked;
  };

  test.each<readonly [string, typeof createContact, Parameters<typeof invoke>[1], object]>([
    ['for an audience', createAudience, { body: { name: 'Readers' } }, { method: 'POST', body: { name: 'Readers' } }],
    [
      'for a contact in its own terms',
      createContact,
      { body: { email: 'a@b.cd', firstName: 'A', unsubscribed: false } },
      {
        method: 'POST',
        path: '/audiences/a-1/contacts',
        body: { email: 'a@b.cd', first_name: 'A', unsubscribed: false },
      },
    ],
    [
      'for the fields that change only',
      updateContact,
      { body: { lastName: null } },
      { method: 'PATCH', path: '/audiences/a-1/contacts/ada%40example.com', body: { last_name: null } },
    ],
    [
      'to take a contact out',
      deleteContact,
      {},
      { method: 'DELETE', path: '/audiences/a-1/contacts/ada%40example.com', body: undefined },
    ],
    [
      'for a draft, with a link for unsubscribing',
      createBroadcast,
      { body: { audienceId: 'a-1', subject: 'S', html: '<p>H</p>', from: 'a@b.cd' } },
      {
        method: 'POST',
        path: '/broadcasts',
        body: {
          audience_id: 'a-1',
          subject: 'S',
          from: 'a@b.cd',
          html: '<p>H</p><p><a href="{{{RESEND_UNSUBSCRIBE_URL}}}">Unsubscribe</a></p>',
        },
      },
    ],
    [
      'to send at a time, by itself',
      createBroadcast,
      {
        body: {
          audienceId: 'a-1',
          subject: 'S',
          html: '{{{RESEND_UNSUBSCRIBE_URL}}}',
          scheduledAt: '2040-01-01T00:00Z',
        },
      },
      {
        body: expect.objectContaining({
          send: true,
          scheduled_at: '2040-01-01T00:00:00.000Z',
          html: '{{{RESEND_UNSUBSCRIBE_URL}}}',
        }),
      },
    ],
    ['to send a draft', sendBroadcast, {}, { method: 'POST', path: '/broadcasts/b-1/send', body: {} }],
  ])('%s, once, with the project’s own key', async (_, handler, options, expected) => {
    expect(await askedBy(handler, options)).toEqual([
      expect.objectContaining({
        headers: expect.objectContaining({ authorization: 'Bearer re_own_key' }),
        ...expected,
      }),
    ]);
  });

  test('at the cost of 1 counter, and 1 read of the quota when it sends', async () => {
    says({ body: {} });
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await invoke(listAudiences, { key });
    const count = 'dynamodb UpdateItemCommand';
    expect(await commandsOf(() => invoke(listAudiences, { key }))).toEqual([count]);
    expect(await commandsOf(() => invoke(sendBroadcast, { key, params }))).toEqual(['dynamodb GetItemCommand', count]);
  });
});
