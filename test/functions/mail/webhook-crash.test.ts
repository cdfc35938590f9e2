import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { handler } from '../../../functions/mail/webhook/receive-webhook.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { newLog } from '../../../shared/mail/send.ts';
import { receiversOf, suppressions } from '../../../shared/mail/suppressions.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { eventOf, signedHeaders } from '../../support/clients/webhook.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';

const to = ['crash@example.com'];
let projectId: string;

beforeAll(async () => {
  projectId = (await newProject()).id;
  await receiversOf(projectId, [{ to }]);
});

const sentMail = async () => {
  const _id = new ObjectId();
  const providerEmailId = randomUUID();
  const row = newLog({ _id, projectId, to, subject: 'Hi', usingByok: false, templateUsed: null });
  await mailLogs.insertOne({ ...row, status: 'sent', providerEmailId });
  return { _id, data: { email_id: providerEmailId, to } };
};

const deliver = (event: object, id = `msg_${randomUUID()}`) =>
  invoke(handler, { method: 'POST', body: event, headers: signedHeaders(Buffer.from(JSON.stringify(event)), { id }) });

describe('An event costs', () => {
  test('1 find and 1 update', async () => {
    const { data } = await sentMail();
    expect(await commandsOf(() => deliver(eventOf('email.delivered', data)))).toEqual([
      'mongodb find',
      'mongodb update',
    ]);
  });

  test('1 more update when it suppresses an address', async () => {
    const { data } = await sentMail();
    expect(await commandsOf(() => deliver(eventOf('email.bounced', data)))).toEqual([
      'mongodb find',
      'mongodb update',
      'mongodb update',
    ]);
  });

  test('1 find when it is repeated, and 1 when the email is another account’s', async () => {
    const { data } = await sentMail();
    const event = eventOf('email.delivered', data);
    await deliver(event, 'msg_twice');
    expect(await commandsOf(() => deliver(event, 'msg_twice'))).toEqual(['mongodb find']);
    expect(await commandsOf(() => deliver(eventOf('email.sent', { email_id: randomUUID() })))).toEqual([
      'mongodb find',
    ]);
  });

  test('nothing when it is not signed or changes no email', async () => {
    expect(await commandsOf(() => deliver(eventOf('email.opened', {})))).toEqual([]);
  });
});

describe('A run that crashes before the log is written', () => {
  test('loses nothing: the next delivery does everything', async () => {
    const { _id, data } = await sentMail();
    await suppressions.deleteMany({ projectId: new ObjectId(projectId) });
    const event = eventOf('email.bounced', data);
    // The log is written last, so this looks as if the event had not been applied.
    await deliver(event, 'msg_dead');
    await mailLogs.updateOne({ _id }, { $set: { status: 'sent' }, $unset: { eventIds: '', lastEventAt: '' } });
    expect(await deliver(event, 'msg_dead')).toMatchObject({ status: 200 });
    expect(await mailLogs.findOne({ _id })).toMatchObject({
      status: 'bounced',
      eventIds: ['msg_dead'],
    });
    expect(await receiversOf(projectId, [{ to }])).toEqual([[]]);
  });

  test('does not suppress an address again that was removed meanwhile', async () => {
    const { data } = await sentMail();
    const event = eventOf('email.bounced', data);
    await deliver(event, 'msg_again');
    await suppressions.deleteMany({ projectId: new ObjectId(projectId) });
    await deliver(event, 'msg_again');
    expect(await receiversOf(projectId, [{ to }])).toEqual([to]);
  });
});
