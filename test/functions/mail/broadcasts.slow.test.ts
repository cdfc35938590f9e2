import { beforeAll, describe, expect, inject, test } from 'vitest';
import { mailsTo, mailTo } from '../../support/clients/inbox.ts';
import { newMailProject } from '../../support/fixtures/mail-project.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

interface Provided {
  readonly success: true;
  readonly data: { readonly id: string; readonly data: readonly Record<string, unknown>[] } & Record<string, unknown>;
  readonly message: string;
}

const broadcasts = '/api/mail/broadcasts';
let project: TestProject;
let audienceId: string;

const ask = (method: string, path: string, body?: unknown, by = project) =>
  by.api<Provided>(method, path, body === undefined ? {} : { body });

const newAudience = async (by: TestProject, ...emails: readonly string[]): Promise<string> => {
  const { body } = await ask('POST', '/api/mail/audiences', { name: 'Readers' }, by);
  for (const email of emails) await ask('POST', `/api/mail/audiences/${body.data.id}/contacts`, { email }, by);
  return body.data.id;
};

beforeAll(async () => {
  project = await newMailProject('pro');
  audienceId = await newAudience(project);
});

const draft = () => ({ audienceId, subject: 'News', html: '<p>Hello</p>' });
const newBroadcast = async (more: object = {}) => (await ask('POST', broadcasts, { ...draft(), ...more })).body.data.id;
const shown = async (id: string) => (await ask('GET', `${broadcasts}/${id}`)).body.data;

describe('A broadcast', () => {
  test('201 with an id when it is a draft', async () => {
    const answer = await ask('POST', broadcasts, draft());
    expect(answer).toMatchObject({
      status: 201,
      body: { success: true, data: { id: expect.any(String) }, message: 'Broadcast created successfully.' },
    });
    expect(await shown(answer.body.data.id)).toMatchObject({
      audience_id: audienceId,
      subject: 'News',
      status: 'draft',
      scheduled_at: null,
    });
  });

  test('200 in the list and alone until it is deleted', async () => {
    const id = await newBroadcast();
    expect((await ask('GET', broadcasts)).body.data.data).toContainEqual(
      expect.objectContaining({ id, status: 'draft' }),
    );
    expect(await ask('DELETE', `${broadcasts}/${id}`)).toMatchObject({
      status: 200,
      body: { success: true, data: { id, deleted: true }, message: 'Broadcast deleted successfully.' },
    });
    expect(await ask('GET', `${broadcasts}/${id}`)).toMatchObject({ status: 404 });
  });

  test('200 and sent to every subscribed contact of its audience', async () => {
    const [reader, gone] = ['reader-b1@example.com', 'gone-b1@example.com'];
    const audience = await newAudience(project, reader, gone);
    await ask('PATCH', `/api/mail/audiences/${audience}/contacts/${gone}`, { unsubscribed: true });
    const id = await newBroadcast({ audienceId: audience });
    const sent = await ask('POST', `${broadcasts}/${id}/send`);
    expect(sent).toMatchObject({
      status: 200,
      body: { success: true, data: { id }, message: 'Broadcast sent successfully.' },
    });
    expect(await mailTo(reader)).toMatchObject({ subject: 'News' });
    expect(await mailsTo(gone)).toEqual([]);
    expect(await shown(id)).toMatchObject({ status: 'sent' });
  });

  test('422 when it was sent already', async () => {
    const id = await newBroadcast();
    await ask('POST', `${broadcasts}/${id}/send`);
    const again = await ask('POST', `${broadcasts}/${id}/send`);
    expect(again).toMatchObject({ status: 422, body: { success: false, code: 'MAIL_PROVIDER_UNPROCESSABLE' } });
  });

  test('has a link that unsubscribes with one click', async () => {
    const reader = 'reader-b2@example.com';
    const audience = await newAudience(project, reader);
    await ask('POST', `${broadcasts}/${await newBroadcast({ audienceId: audience })}/send`);
    const mail = (await mailTo(reader)) as unknown as {
      readonly html: string;
      readonly headers: Record<string, string>;
    };
    const url = /^<(.+)>$/.exec(mail.headers['List-Unsubscribe'] ?? '')?.[1] ?? '';
    expect(mail.headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click');
    expect(mail.html).toContain(`href="${url}"`);
    expect(url).toContain(inject('stack').env.MAIL_PROVIDER_URL);
    await fetch(url, { method: 'POST', body: 'List-Unsubscribe=One-Click' });
    const { data } = (await ask('GET', `/api/mail/audiences/${audience}/contacts`)).body;
    expect(data.data).toMatchObject([{ email: reader, unsubscribed: true }]);
  });
});

describe('A broadcast with a time', () => {
  test.each([
    ['2040-01-31T09:00:00Z', '2040-01-31T09:00:00.000Z'],
    ['2040-01-31T09:00:00+02:00', '2040-01-31T07:00:00.000Z'],
    ['2040-01-31', '2040-01-31T00:00:00.000Z'],
  ])('201 waits until %s', async (scheduledAt, expected) => {
    expect(await shown(await newBroadcast({ scheduledAt }))).toMatchObject({
      status: 'queued',
      scheduled_at: expected,
    });
  });

  test('is sent by the provider at that time without another call', async () => {
    const reader = 'reader-b3@example.com';
    const audience = await newAudience(project, reader);
    const id = await newBroadcast({ audienceId: audience, scheduledAt: new Date(Date.now() + 3000).toISOString() });
    await mailTo(reader);
    expect(await shown(id)).toMatchObject({ status: 'sent' });
  });

  test('200 when it is deleted before that time', async () => {
    const scheduledAt = new Date(Date.now() + 3600_000).toISOString();
    const id = await newBroadcast({ audienceId: await newAudience(project), scheduledAt });
    expect(await ask('DELETE', `${broadcasts}/${id}`)).toMatchObject({ status: 200 });
    expect(await ask('GET', `${broadcasts}/${id}`)).toMatchObject({ status: 404 });
  });

  test.each(['tomorrow', 'in 2 days', '2040-02-30T00:00:00Z', '2040-01-31 09:00', '', 12, null])(
    '400 when the time is %j',
    async (scheduledAt) => {
      const answer = await ask('POST', broadcasts, { ...draft(), scheduledAt });
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
      expect(answer.body.message).toMatch(/^Validation failed: scheduledAt must be /);
    },
  );
});

describe('The sender of a broadcast', () => {
  const own = 'Own <own@example.com>';

  const fromOf = async (settings: Readonly<Record<string, unknown>>, more: object) => {
    const by = await newMailProject('pro', undefined, settings);
    const audience = await newAudience(by);
    const { body } = await ask('POST', broadcasts, { ...draft(), audienceId: audience, ...more }, by);
    return (await ask('GET', `${broadcasts}/${body.data.id}`, undefined, by)).body.data.from;
  };

  test('is the one of the body', async () => {
    expect(await fromOf({ providerFromEmail: own }, { from: 'Body <body@example.com>' })).toBe(
      'Body <body@example.com>',
    );
  });

  test('is the project’s when the body has none', async () => {
    expect(await fromOf({ providerFromEmail: own }, {})).toBe(own);
  });

  test('is the service’s when the project has none', async () => {
    expect(await fromOf({}, {})).toBe(inject('stack').env.EMAIL_FROM);
  });
});

describe('400 for a broadcast', () => {
  test.each<readonly [string, object, string]>([
    ['without an audience', { audienceId: undefined }, 'audienceId is required'],
    ['with an empty audience', { audienceId: '' }, 'audienceId is required'],
    ['without a subject', { subject: undefined }, 'subject is required'],
    ['with a blank subject', { subject: ' ' }, 'subject is required'],
    [
      'with a line break in its subject',
      { subject: 'a\r\nBcc: x@y.zz' },
      'subject must not contain control characters',
    ],
    ['with a subject of 999 characters', { subject: 'x'.repeat(999) }, 'subject must have at most 998 characters'],
    ['without html', { html: undefined }, 'html is required'],
    ['with empty html', { html: '' }, 'html is required'],
    ['with blank html', { html: ' \n' }, 'html is required'],
    [
      'from no address',
      { from: 'me' },
      'from must be an email address in ASCII (write a domain such as bücher.example as xn--bcher-kva.example), or Name <address>',
    ],
    [
      'from an address with a header',
      { from: 'a@b.cd\nBcc: x@y.zz' },
      'from must be an email address in ASCII (write a domain such as bücher.example as xn--bcher-kva.example), or Name <address>',
    ],
    ['with a field nobody knows', { send: true }, 'send is not a known field'],
  ])('%s', async (_, more, message) => {
    const answer = await ask('POST', broadcasts, { ...draft(), ...more });
    expect(answer).toMatchObject({ status: 400, body: { message: `Validation failed: ${message}` } });
  });
});

describe('404', () => {
  const id = '78261eea-8f8b-4381-83c6-79fa7120f1cf';

  test.each([
    ['GET', id],
    ['DELETE', id],
    ['POST', `${id}/send`],
    ['GET', '%252e%252e'],
    ['DELETE', 'x%2F..%2F..%2Faudiences'],
    ['POST', '..%2Fx/send'],
  ])('for %s %s', async (method, path) => {
    const answer = await ask(method, `${broadcasts}/${path}`);
    expect(answer).toMatchObject({ status: 404, body: { code: 'MAIL_PROVIDER_NOT_FOUND' } });
  });

  test.each(['../x', '.', 'a/b'])('for a broadcast to the audience %s', async (audience) => {
    const answer = await ask('POST', broadcasts, { ...draft(), audienceId: audience });
    expect(answer).toMatchObject({ status: 404, body: { code: 'MAIL_PROVIDER_NOT_FOUND' } });
  });

  test('for the key of another project', async () => {
    const other = await newMailProject('pro');
    const broadcastId = await newBroadcast();
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/send'],
    ] as const) {
      expect(await ask(method, `${broadcasts}/${broadcastId}${path}`, undefined, other)).toMatchObject({ status: 404 });
    }
    expect(await shown(broadcastId)).toMatchObject({ status: 'draft' });
  });
});
