import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as startExport } from '../../../functions/dashboard/transfers/start-export.ts';
import { handler as emptyTrash } from '../../../functions/dashboard/trash/empty-trash.ts';
import { handler as deliverMail } from '../../../functions/jobs/deliver-mail.ts';
import { handler as runTask } from '../../../functions/jobs/run-task.ts';
import { handler as verifyDatabase } from '../../../functions/jobs/verify-database-a.ts';
import { handler as sendMail } from '../../../functions/mail/send-mail.ts';
import { localAccount } from '../../../infra/local/keys.ts';
import { clock } from '../../../shared/core/clock.ts';
import { verificationId } from '../../../shared/customer-database/verification.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { seal } from '../../../shared/projects/sealed.ts';
import { transferRecords } from '../../../shared/transfers/transfer.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { stillQueue } from '../../support/fixtures/still-queue.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { addTrashed } from '../../support/fixtures/trash.ts';

// An own queue, whose messages the test receives, and a log that the test can read.
process.env.LOG = 'info';
const endpoint = process.env.AWS_ENDPOINT_URL ?? '';
const sqs = new SQSClient({ endpoint, ...localAccount });
let project: TestProject;

beforeAll(async () => {
  process.env.MAIL_QUEUE_URL = await stillQueue(endpoint);
  process.env.WORK_QUEUE_URL = await stillQueue(endpoint);
  project = await newProject([{ name: 'notes' }]);
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => sqs.destroy());

type Line = Readonly<Record<string, unknown>>;

/** The lines that `act` logs. */
const linesOf = async (act: () => Promise<unknown>): Promise<Line[]> => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await act();
  const lines = write.mock.calls.map(([text]) => JSON.parse(String(text)) as Line);
  write.mockRestore();
  return lines;
};

/** The next message of the queue, as the function receives it. */
const nextOf = async (QueueUrl = ''): Promise<SQSEvent> => {
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 2 }));
  return {
    Records: Messages.map(({ MessageId, ReceiptHandle, Body }) => ({
      messageId: MessageId,
      receiptHandle: ReceiptHandle,
      body: Body,
      attributes: { ApproximateReceiveCount: '1' },
    })),
  } as unknown as SQSEvent;
};

/** The id that `invoke` gives every request. */
const requestId = 'test-request';

describe('log lines of a job have the id of the request that started it', () => {
  test('an email that is delivered', async () => {
    const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Hello' };
    await linesOf(() => invoke(sendMail, { key: project.secretKey, method: 'POST', body: mail }));
    const event = await nextOf(process.env.MAIL_QUEUE_URL);
    const [id = ''] = event.Records.map(({ body }) => body);
    expect(await mailLogs.findOne({ _id: new ObjectId(id) })).toMatchObject({ job: { requestId } });
    expect(await linesOf(() => deliverMail(event))).toEqual([
      { level: 'info', job: 'deliver-mail', mail: id, tries: 1, done: true, requestId },
    ]);
  });

  test('an email that cannot be prepared', async () => {
    const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Hello' };
    await linesOf(() => invoke(sendMail, { key: project.secretKey, method: 'POST', body: mail }));
    const event = await nextOf(process.env.MAIL_QUEUE_URL);
    const _id = new ObjectId(event.Records[0]?.body);
    await mailLogs.updateOne({ _id }, { $set: { 'job.content': 'damaged' } });
    const lines = await linesOf(() => deliverMail(event));
    expect(lines.map(({ level }) => level)).toEqual(['error', 'info']);
    for (const line of lines) expect(line).toMatchObject({ job: 'deliver-mail', requestId });
  });

  test('a purge of the trash, and its continuation', async () => {
    await addTrashed(await domainProject(project), 'notes', 1001, 0);
    const params = { projectId: project.id, collectionName: 'notes' };
    const { token } = project.developer;
    // By the stack's clock the project is not due yet, so no other run removes the rest.
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 60_000);
    await linesOf(() => invoke(emptyTrash, { token, method: 'DELETE', params }));
    const event = await nextOf(process.env.WORK_QUEUE_URL);
    expect(JSON.parse(event.Records[0]?.body ?? '')).toEqual({
      requestId,
      task: 'purge-trash',
      projectId: project.id,
    });
    const lines = await linesOf(() => runTask(event));
    expect(lines.map(({ job }) => job)).toEqual(['purge-trash', 'run-task']);
    for (const line of lines) expect(line).toMatchObject({ level: 'info', requestId });
  });

  test('an export, also when its message was lost and the schedule queued it again', async () => {
    const params = { projectId: project.id, collectionName: 'notes' };
    const { token } = project.developer;
    await linesOf(() => invoke(startExport, { token, method: 'POST', params, body: { format: 'json' } }));
    const event = await nextOf(process.env.WORK_QUEUE_URL);
    const { transferId } = JSON.parse(event.Records[0]?.body ?? '') as { readonly transferId: string };
    const record = await transferRecords.findOne({ _id: new ObjectId(transferId) });
    expect(record).toMatchObject({ requestId });
    const body = JSON.stringify({ task: 'transfer', transferId });
    const [line] = await linesOf(() => runTask({ Records: event.Records.map((message) => ({ ...message, body })) }));
    expect(line).toMatchObject({ job: 'run-task', task: 'transfer', transferId, requestId });
  });

  test('the verification of a database', async () => {
    const projectId = 'a'.repeat(24);
    const sealedUri = await seal('mongodb://nowhere.invalid/x', verificationId(projectId));
    expect(await linesOf(() => verifyDatabase({ projectId, sealedUri, requestId }))).toMatchObject([
      { job: 'verify-database', project: projectId, requestId },
    ]);
  });

  test('but not jobs of the schedule', async () => {
    const body = JSON.stringify({ task: 'purge-trash', projectId: project.id });
    const record = { messageId: 'a', receiptHandle: 'none', body, attributes: { ApproximateReceiveCount: '1' } };
    const lines = await linesOf(() => runTask({ Records: [record] } as unknown as SQSEvent));
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toHaveProperty('requestId');
  });
});
