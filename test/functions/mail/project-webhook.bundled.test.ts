import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { mailLogs } from '../../../shared/mail/log.ts';
import { newLog } from '../../../shared/mail/send.ts';
import { receiversOf } from '../../../shared/mail/suppressions.ts';
import { deliver, eventOf } from '../../support/clients/webhook.ts';
import { newMailProject } from '../../support/fixtures/mail-project.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(24, 10).toString('base64')}`;
const processed = { status: 200, body: { success: true, message: 'Webhook processed.' } };
const foreign = { status: 200, body: { success: true, message: 'Webhook ignored: not an email of this service.' } };
const refused = { status: 400, body: { success: false, code: 'INVALID_SIGNATURE' } };

let project: TestProject;
let other: TestProject;
let silent: TestProject;

beforeAll(async () => {
  [project, other, silent] = await Promise.all([
    newMailProject('free', undefined, { providerWebhookSecret: secret }),
    newMailProject('free', undefined, { providerWebhookSecret: otherSecret }),
    newMailProject('free'),
  ]);
});

const sentMail = async (by: TestProject, { usingByok = true, known = true } = {}) => {
  const _id = new ObjectId();
  const providerEmailId = randomUUID();
  const to = [`to-${randomUUID()}@example.com`];
  const row = newLog({ _id, projectId: by.id, to, subject: 'Hi', usingByok, templateUsed: null });
  await mailLogs.insertOne({ ...row, status: 'sent', ...(known && { providerEmailId }) });
  const tags = { basalt_mail: _id.toHexString() };
  return { _id, to, data: { email_id: providerEmailId, to, tags } };
};

const statusOf = async (_id: ObjectId) => (await mailLogs.findOne({ _id }))?.status;

const deliverTo = (projectId: string, event: unknown, by = secret) =>
  deliver(event, { path: `/api/mail/webhook/${projectId}`, secret: by });

describe('The webhook of a project’s own account', () => {
  test.each([true, false])('applies events of emails whose provider id is logged: %s', async (known) => {
    const mail = await sentMail(project, { known });
    expect(await deliverTo(project.id, eventOf('email.bounced', mail.data))).toMatchObject(processed);
    expect(await statusOf(mail._id)).toBe('bounced');
    expect(await receiversOf(project.id, [mail])).toEqual([[]]);
  });

  test('ignores emails of other projects and of the shared account', async () => {
    for (const mail of [
      await sentMail(other),
      await sentMail(other, { known: false }),
      await sentMail(project, { usingByok: false }),
      await sentMail(project, { usingByok: false, known: false }),
    ]) {
      expect(await deliverTo(project.id, eventOf('email.complained', mail.data, -11))).toMatchObject(foreign);
      expect(await statusOf(mail._id)).toBe('sent');
      expect(await receiversOf(other.id, [mail])).toEqual([mail.to]);
    }
  });

  test('400 with the secret of another project or of the shared account, and without a secret', async () => {
    const event = eventOf('email.opened', {});
    const shared = process.env.MAIL_WEBHOOK_SECRET ?? '';
    expect(await deliverTo(project.id, event, otherSecret)).toMatchObject(refused);
    expect(await deliverTo(project.id, event, shared)).toMatchObject(refused);
    expect(await deliverTo(silent.id, event)).toMatchObject(refused);
    expect(await deliver(event, { secret })).toMatchObject(refused);
  });

  test.each(['f'.repeat(24), 'none', '%24ne', '__proto__'])('400 for the unknown project %s', async (id) => {
    expect(await deliverTo(id, eventOf('email.opened', {}))).toMatchObject(refused);
  });
});

describe('The secret of a project’s own webhook', () => {
  const settings = (body: object, by = silent) => by.developer.dashboard('PATCH', `/api/projects/${by.id}`, body);

  test('200 when it is set or cleared; it is never returned', async () => {
    const set = await settings({ providerWebhookSecret: secret });
    expect(set).toMatchObject({ status: 200, body: { data: { hasProviderWebhookSecret: true } } });
    expect(JSON.stringify(set.body)).not.toContain(secret);
    expect(await settings({ providerWebhookSecret: null })).toMatchObject({
      status: 200,
      body: { data: { hasProviderWebhookSecret: false } },
    });
  });

  test.each(['', 'whsec_', 'whsec_not base64', 'whsec_-_-_', 'secret', 12, `whsec_${'A'.repeat(500)}`])(
    '400 %j',
    async (providerWebhookSecret) => {
      const answer = await settings({ providerWebhookSecret });
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    },
  );
});
