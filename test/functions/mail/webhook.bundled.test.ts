import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type MailLog, mailLogs } from '../../../shared/mail/log.ts';
import { newLog } from '../../../shared/mail/send.ts';
import { listSuppressions, suppressions } from '../../../shared/mail/suppressions.ts';
import { findProjectById } from '../../../shared/projects/find-project.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { deliver, eventOf } from '../../support/clients/webhook.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const processed = { status: 200, body: { success: true, message: 'Webhook processed.' } };
const ignored = { status: 200, body: { success: true, message: 'Webhook ignored: this event changes no email.' } };
const foreign = { status: 200, body: { success: true, message: 'Webhook ignored: not an email of this service.' } };

let project: TestProject;
beforeAll(async () => {
  project = await newProject();
});

/** A logged email that the provider has; `known: false` if the log lacks its id. */
const sentMail = async ({ known = true, to = [`to-${randomUUID()}@example.com`] } = {}) => {
  const _id = new ObjectId();
  const providerEmailId = randomUUID();
  const row = newLog({ _id, projectId: project.id, to, subject: 'Hi', usingByok: false, templateUsed: null });
  await mailLogs.insertOne({ ...row, status: 'sent', ...(known && { providerEmailId }) });
  return { _id, providerEmailId, to, data: { email_id: providerEmailId, to } };
};

type Sent = Awaited<ReturnType<typeof sentMail>>;

const stored = async ({ _id }: Pick<Sent, '_id'>): Promise<MailLog> => {
  const row = await mailLogs.findOne({ _id });
  if (!row) throw new Error('The mail is gone');
  return row;
};

const suppressed = async (): Promise<Map<string, string>> => {
  const found = await findProjectById(project.id);
  if (!found) throw new Error('The project is gone');
  const { items } = await listSuppressions(found, { page: 1, limit: 100 });
  return new Map(items.map(({ email, reason }) => [email, reason]));
};

describe('An event of the provider', () => {
  test.each([
    ['email.sent', 'sent'],
    ['email.delivered', 'delivered'],
    ['email.bounced', 'bounced'],
    ['email.complained', 'complained'],
    ['email.delivery_delayed', 'queued'],
  ])('%s sets the status %s', async (type, status) => {
    const mail = await sentMail();
    expect(await deliver(eventOf(type, mail.data))).toMatchObject(processed);
    expect(await stored(mail)).toMatchObject({ status });
  });

  test('is accepted with the header names of Standard Webhooks', async () => {
    const mail = await sentMail();
    const event = eventOf('email.delivered', mail.data);
    expect(await deliver(event, { prefix: 'webhook' })).toMatchObject(processed);
    expect(await stored(mail)).toMatchObject({ status: 'delivered' });
    const refused = { status: 400, body: { code: 'INVALID_SIGNATURE' } };
    const other = { 'svix-signature': `v1,${'A'.repeat(43)}=` };
    expect(await deliver(event, { prefix: 'webhook', headers: other })).toMatchObject(refused);
    expect(await deliver(event, { prefix: 'webhook', timestamp: 1 })).toMatchObject(refused);
  });

  test('finds its email by the tag when the log lacks the provider’s id', async () => {
    const mail = await sentMail({ known: false });
    const data = { ...mail.data, tags: { basalt_mail: mail._id.toHexString() } };
    expect(await deliver(eventOf('email.delivered', data))).toMatchObject(processed);
    expect(await stored(mail)).toMatchObject({ status: 'delivered', providerEmailId: mail.providerEmailId });
  });

  test('503 while its email may not be logged yet, so that the provider retries', async () => {
    const tags = { basalt_mail: new ObjectId().toHexString() };
    const answer = await deliver(eventOf('email.delivered', { email_id: randomUUID(), tags }));
    expect(answer).toMatchObject({ status: 503, body: { success: false, code: 'EVENT_TOO_EARLY' } });
    expect(answer.headers.get('retry-after')).toBe('5');
  });

  test('is ignored after ten minutes when no email matches', async () => {
    const tags = { basalt_mail: new ObjectId().toHexString() };
    expect(await deliver(eventOf('email.delivered', { email_id: randomUUID(), tags }, -11))).toMatchObject(foreign);
  });

  test('of another account’s email is ignored', async () => {
    expect(await deliver(eventOf('email.delivered', { email_id: randomUUID() }))).toMatchObject(foreign);
  });

  test.each(['email.opened', 'email.clicked', 'email.failed', 'contact.created', 'domain.updated', '__proto__', ''])(
    'of type "%s" is ignored',
    async (type) => {
      const mail = await sentMail();
      expect(await deliver(eventOf(type, mail.data))).toMatchObject(ignored);
      expect(await stored(mail)).toMatchObject({ status: 'sent' });
    },
  );

  test.each([
    '',
    'null',
    '[]',
    '{',
    '"email.sent"',
    '{"type":"email.sent"}',
    '{"type":"email.sent","data":{"email_id":{"$gt":""}}}',
  ])('that is malformed (%s) is ignored although it is signed', async (text) => {
    expect(await deliver(text)).toMatchObject(ignored);
  });

  test('stores the reason of a bounce', async () => {
    const mail = await sentMail();
    await deliver(eventOf('email.bounced', { ...mail.data, bounce: { type: 'Permanent', message: 'No such user' } }));
    expect(await stored(mail)).toMatchObject({ status: 'bounced', reason: 'No such user' });
  });

  test('may have an id that looks like an operator', async () => {
    const mail = await sentMail();
    expect(await deliver(eventOf('email.delivered', mail.data), { id: '$status' })).toMatchObject(processed);
    expect(await stored(mail)).toMatchObject({ status: 'delivered', eventIds: ['$status'] });
  });
});

describe('Events in any order', () => {
  test('leave the latest status', async () => {
    const mail = await sentMail();
    await deliver(eventOf('email.delivered', mail.data, -1));
    expect(await deliver(eventOf('email.sent', mail.data, -2))).toMatchObject(processed);
    expect(await stored(mail)).toMatchObject({ status: 'delivered' });
    await deliver(eventOf('email.complained', mail.data, 0));
    expect(await stored(mail)).toMatchObject({ status: 'complained' });
  });

  const types = ['sent', 'delivery_delayed', 'delivered', 'bounced', 'complained'];
  const statuses = ['sent', 'queued', 'delivered', 'bounced', 'complained'];
  const pairs = types.flatMap((type, rank) => types.slice(0, rank).map((weaker) => [type, weaker, rank] as const));

  test.each(pairs)(
    'leave %s when %s comes before or after it, with an earlier, the same or a later time',
    async (type, weaker, rank) => {
      for (const minutes of [-3, -2, -1]) {
        for (const isLate of [true, false]) {
          const mail = await sentMail();
          const events = [eventOf(`email.${type}`, mail.data, -2), eventOf(`email.${weaker}`, mail.data, minutes)];
          for (const event of isLate ? events : events.toReversed()) await deliver(event);
          expect(await stored(mail)).toMatchObject({ status: statuses[rank] });
        }
      }
    },
  );

  test('leave delivered after a transient bounce, and the reason of the later of two bounces', async () => {
    const [healed, lost] = [await sentMail(), await sentMail()];
    const bounce = (mail: Sent, type: string, message: string, minutes: number) =>
      deliver(eventOf('email.bounced', { ...mail.data, bounce: { type, message } }, minutes));
    await bounce(healed, 'Transient', 'mailbox full', -2);
    expect(await stored(healed)).toMatchObject({ status: 'bounced' });
    await deliver(eventOf('email.delivered', healed.data, -1));
    expect(await stored(healed)).toMatchObject({ status: 'delivered' });
    await bounce(lost, 'Permanent', 'later', -1);
    await bounce(lost, 'Permanent', 'earlier', -2);
    expect(await stored(lost)).toMatchObject({ status: 'bounced', reason: 'later' });
  });

  test('do not lower the status of an entry from before ranks were stored', async () => {
    const mail = await sentMail();
    await deliver(eventOf('email.bounced', mail.data, -2));
    await mailLogs.updateOne({ _id: mail._id }, { $unset: { eventRank: '' } });
    await deliver(eventOf('email.sent', mail.data, 0));
    expect(await stored(mail)).toMatchObject({ status: 'bounced' });
  });

  test('with the same time are all applied', async () => {
    const mail = await sentMail();
    const first = eventOf('email.delivery_delayed', mail.data, -1);
    await deliver(first);
    await deliver({ ...first, type: 'email.delivered' });
    expect(await stored(mail)).toMatchObject({ status: 'delivered' });
  });

  test('change nothing when they are repeated, also among others of the same time', async () => {
    const mail = await sentMail();
    const first = eventOf('email.bounced', { ...mail.data, bounce: { type: 'Transient' } }, -1);
    const id = `msg_${randomUUID()}`;
    await deliver(first, { id });
    await deliver({ ...first, type: 'email.delivered' });
    const before = await stored(mail);
    expect(await deliver(first, { id })).toMatchObject(processed);
    expect(await stored(mail)).toEqual(before);
  });

  test('count once for 50 concurrent callers', async () => {
    const mail = await sentMail();
    const event = eventOf('email.complained', mail.data);
    const id = `msg_${randomUUID()}`;
    const answers = await inParallel(50, () => deliver(event, { id }));
    expect(tally(answers)).toEqual({ 200: 50 });
    expect(await stored(mail)).toMatchObject({ status: 'complained', eventIds: [id] });
    expect([...(await suppressed()).keys()].filter((email) => email === mail.to[0])).toHaveLength(1);
  });

  test('leave the latest for 50 concurrent callers with different events', async () => {
    const mail = await sentMail();
    const kinds = ['email.sent', 'email.delivery_delayed', 'email.sent', 'email.delivered'];
    await inParallel(50, (index) => deliver(eventOf(kinds[index % 4] ?? '', mail.data, index === 23 ? 0 : -1 - index)));
    expect((await stored(mail)).eventIds).toHaveLength(50);
    expect(await stored(mail)).toMatchObject({ status: 'delivered' });
  });
});

describe('An address is suppressed', () => {
  test.each<readonly [string, string, object, string | undefined]>([
    ['after a bounce', 'email.bounced', { bounce: { type: 'Permanent' } }, 'bounced'],
    ['after a bounce of no known type', 'email.bounced', {}, 'bounced'],
    ['after a complaint', 'email.complained', {}, 'complained'],
    ['but not after a bounce that may heal', 'email.bounced', { bounce: { type: 'Transient' } }, undefined],
    ['but not after a delay', 'email.delivery_delayed', {}, undefined],
  ])('%s', async (_, type, more, reason) => {
    const mail = await sentMail();
    await deliver(eventOf(type, { ...mail.data, ...more }));
    expect((await suppressed()).get(mail.to[0] ?? '')).toBe(reason);
  });

  test('when the event names it among the recipients', async () => {
    const mail = await sentMail({ to: ['Kept <kept@example.com>', 'Gone <GONE@example.com>'] });
    await deliver(eventOf('email.bounced', { ...mail.data, to: ['gone@example.com', 'stranger@example.com'] }));
    const found = await suppressed();
    expect(found.get('gone@example.com')).toBe('bounced');
    expect(found.has('kept@example.com')).toBe(false);
    expect(found.has('stranger@example.com')).toBe(false);
  });

  test('by a complaint after a bounce, with the email of the complaint', async () => {
    const bounced = await sentMail();
    const complained = await sentMail({ to: bounced.to });
    await deliver(eventOf('email.bounced', bounced.data));
    await deliver(eventOf('email.complained', complained.data));
    const later = await sentMail({ to: bounced.to });
    await deliver(eventOf('email.bounced', later.data));
    expect(await suppressions.findOne({ email: bounced.to[0] ?? '' })).toMatchObject({
      reason: 'complained',
      providerEmailId: complained.providerEmailId,
    });
  });

  test('when the bounce arrives late', async () => {
    const mail = await sentMail();
    await deliver(eventOf('email.delivered', mail.data, 0));
    await deliver(eventOf('email.bounced', mail.data, -1));
    expect(await stored(mail)).toMatchObject({ status: 'bounced' });
    expect((await suppressed()).get(mail.to[0] ?? '')).toBe('bounced');
  });
});

describe('A delivery', () => {
  const refusal = { status: 400, body: { success: false, code: 'INVALID_SIGNATURE' } };

  const cases: readonly (readonly [string, () => Parameters<typeof deliver>[1]])[] = [
    ['with one byte changed', () => ({ sent: '{"type":"email.sent" }' })],
    ['of another secret', () => ({ secret: `whsec_${Buffer.alloc(24).toString('base64')}` })],
    ['301 seconds old', () => ({ timestamp: Math.floor(Date.now() / 1000) - 301 })],
    ['from a future 310 seconds away', () => ({ timestamp: Math.floor(Date.now() / 1000) + 310 })],
    ['with another id than it was signed with', () => ({ headers: { 'svix-id': 'msg_other' } })],
    ['with another time than it was signed with', () => ({ headers: { 'svix-timestamp': '1' } })],
    ['with an empty signature', () => ({ headers: { 'svix-signature': '' } })],
    ['with 10 signatures, all wrong', () => ({ headers: { 'svix-signature': `v1,${'A'.repeat(43)}= `.repeat(10) } })],
    [
      'with one header of the standard in place of one of the provider’s',
      () => ({ headers: { 'svix-id': '', 'webhook-id': 'msg_1' } }),
    ],
  ];

  test.each(cases)('400 %s', async (_, options) => {
    expect(await deliver({ type: 'email.sent' }, options())).toMatchObject(refusal);
  });

  test('400 without one of its headers, with and without a body', async () => {
    const { baseUrl, webhookUrl } = inject('stack');
    for (const url of [`${baseUrl}/api/mail/webhook`, webhookUrl]) {
      for (const body of ['{"type":"email.sent"}', undefined]) {
        const answer = await fetch(url, { method: 'POST', ...(body !== undefined && { body }) });
        expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'INVALID_SIGNATURE' }]);
      }
    }
  });

  test('413 with a huge body', async () => {
    const answer = await deliver(' '.repeat(1024 * 1024 + 1));
    expect(answer).toMatchObject({ status: 413, body: { success: false, code: 'BODY_TOO_LARGE' } });
  });

  test('is verified by its bytes: another spelling of the same JSON is another body', async () => {
    const mail = await sentMail();
    const event = eventOf('email.delivered', mail.data);
    const spelled = JSON.stringify(event, undefined, 1);
    expect(await deliver(event, { sent: spelled })).toMatchObject(refusal);
    expect(await deliver(spelled)).toMatchObject(processed);
  });

  test.each(['application/json', 'application/octet-stream', 'text/plain'])('is accepted as %s', async (type) => {
    const mail = await sentMail();
    const event = eventOf('email.delivered', { ...mail.data, subject: 'Grüße 🎉' });
    expect(await deliver(event, { headers: { 'content-type': type } })).toMatchObject(processed);
    expect(await stored(mail)).toMatchObject({ status: 'delivered' });
  });

  test('is accepted at the function’s own URL, on any path', async () => {
    const base = inject('stack').webhookUrl.replace(/\/$/, '');
    for (const path of ['/', '/anything?x=1']) {
      const mail = await sentMail();
      expect(await deliver(eventOf('email.delivered', mail.data), { base, path })).toMatchObject(processed);
      expect(await stored(mail)).toMatchObject({ status: 'delivered' });
    }
  });

  test('needs no key and has no rate limit', async () => {
    const { headers } = await deliver(eventOf('email.opened', {}));
    expect(headers.get('ratelimit-limit')).toBeNull();
    expect(headers.get('x-request-id')).toBeTruthy();
  });
});
