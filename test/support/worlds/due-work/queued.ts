import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { ObjectId } from 'mongodb';
import { vi } from 'vitest';
import { handler as deliverMail } from '../../../../functions/jobs/deliver-mail.ts';
import { handler as maintainTransfers } from '../../../../functions/jobs/maintain-transfers.ts';
import { handler as purgeTrash } from '../../../../functions/jobs/purge-trash.ts';
import { handler as requeueMail } from '../../../../functions/jobs/requeue-mail.ts';
import { handler as runTask } from '../../../../functions/jobs/run-task.ts';
import { clock } from '../../../../shared/core/clock.ts';
import { mailTries } from '../../../../shared/mail/queue.ts';
import { queueMail } from '../../../../shared/mail/send.ts';
import { JsonClient } from '../../../../shared/persistence/aws-client.ts';
import { workTries } from '../../../../shared/persistence/work-queue.ts';
import { maxTries } from '../../../../shared/transfers/transfer.ts';
import { answerForQueues } from '../../faults/aws-answers.ts';
import { breakDatabase } from '../../faults/broken.ts';
import { makeProject, newAddress } from '../operations/operation.ts';
import { heldImport, idOf } from '../transfers.ts';
import { addTrashed } from '../trash.ts';
import { control, type DueWork } from './due-work.ts';

type Handler = (event: SQSEvent) => Promise<SQSBatchResponse>;

const recordOf = (body: string, times: number): SQSRecord =>
  ({
    messageId: body,
    receiptHandle: 'none',
    body,
    attributes: { ApproximateReceiveCount: String(times) },
  }) as SQSRecord;

const purgeOf = (projectId: string): string => JSON.stringify({ task: 'purge-trash', projectId });

/** Projects that have anonymous users to remove. */
const withIdleUsers = new Set<string>();

/** Hands a message out for the how-manieth time; answers the seconds after which its function wants it again. */
const delayOf = async (handler: Handler, body: string, times: number): Promise<number> => {
  const asked = answerForQueues();
  await handler({ Records: [recordOf(body, times)] });
  vi.mocked(JsonClient.prototype.send).mockRestore();
  const delayed = asked.findLast(({ operation }) => operation === 'ChangeMessageVisibility');
  return Number(delayed?.input.VisibilityTimeout ?? -1);
};

/** What queues hand out, and the clock finds again where they lost it. */
export const queued: readonly DueWork[] = [
  {
    name: 'a mail',
    jobs: ['requeue-mail', 'deliver-mail'],
    hours: 2,
    tries: mailTries - 1,
    givenUp: { rounds: 12, end: 'failed' },
    add: async (world) => {
      const to = newAddress();
      const variables = { link: 'https://app.example.com/verify?token=a', code: 'ABCD-2345', minutes: '10' };
      await queueMail({ projectId: null, template: 'verification', to, variables, siteName: 'Notes' });
      const logs = control(world, 'mailLogs');
      const log = await logs.findOne({ to });
      const stateOf = async () => (await logs.findOne({ to }))?.status as unknown;
      return {
        done: async () => ((await logs.countDocuments({ to, job: { $exists: true } })) > 0 ? 0 : world.mailsTo(to)),
        breakIt: async () => {
          await logs.updateOne({ to }, { $set: { 'job.content': 'AQ' } });
          return () => void logs.updateOne({ to }, { $set: { 'job.content': log?.job.content } });
        },
        end: stateOf,
        delay: (times) => delayOf(deliverMail, String(log?._id), times),
      };
    },
    run: async (world) => {
      await requeueMail();
      await world.drain();
    },
  },
  {
    name: 'an import',
    jobs: ['maintain-transfers', 'run-task'],
    hours: 2,
    tries: workTries,
    givenUp: { rounds: maxTries + 2, end: 'failed' },
    add: async (world) => {
      const { id } = await makeProject(['notes']);
      const held = await heldImport(id, 'notes', '{"n":1}\n{"n":2}');
      const expiresAt = new Date(clock.now() + 1000 * 3600_000);
      const transfers = control(world, 'transfers');
      await transfers.updateOne({ _id: held._id }, { $set: { dueAt: new Date(clock.now()), expiresAt } });
      const stored = () => world.at.mongo.db(`p_${id}`).collection('notes').countDocuments();
      const end = async () => (await transfers.findOne({ _id: held._id }))?.state as unknown;
      return {
        done: async () => ((await end()) === 'done' ? (await stored()) - 1 : 0),
        breakIt: async () => breakDatabase(id),
        end,
        delay: (times) => delayOf(runTask, JSON.stringify({ task: 'transfer', transferId: idOf(held) }), times),
      };
    },
    run: async (world) => {
      await maintainTransfers();
      await world.drain();
    },
  },
  {
    name: 'the purge of a trash',
    jobs: ['purge-trash', 'run-task'],
    hours: 2,
    tries: workTries,
    add: async (world) => {
      const { id, project } = await makeProject(['notes']);
      await addTrashed(project, 'notes', 3, 60);
      await addTrashed(project, 'notes', 2, -1000);
      const mine = { _id: new ObjectId(id) };
      await control(world, 'projects').updateOne(mine, { $set: { trashDueAt: new Date(clock.now()) } });
      const stored = () => world.at.mongo.db(`p_${id}`).collection('notes').countDocuments();
      return {
        done: async () => ((await stored()) > 2 ? 0 : (await stored()) - 1),
        breakIt: async () => breakDatabase(id),
        delay: (times) => delayOf(runTask, purgeOf(id), times),
      };
    },
    run: async (world) => {
      await purgeTrash();
      await world.drain();
    },
  },
  {
    name: 'an anonymous user without a session',
    jobs: ['purge-trash', 'run-task'],
    hours: 2,
    tries: workTries,
    add: async (world) => {
      const { id } = await makeProject(['users']);
      const mine = { _id: new ObjectId(id) };
      const set = { 'signIn.anonymous': true, trashDueAt: new Date(clock.now()) };
      await control(world, 'projects').updateOne(mine, { $set: set });
      const users = world.at.mongo.db(`p_${id}`).collection('users');
      const checkAt = new Date(clock.now());
      await users.insertMany([{ _signIn: { anonymous: { checkAt, idle: true } } }, { email: 'somebody@example.com' }]);
      const left = async () => Number(await users.countDocuments({ '_signIn.anonymous': { $exists: true } }));
      withIdleUsers.add(id);
      return {
        done: async () => {
          if ((await left()) > 0) return 0;
          withIdleUsers.delete(id);
          return users.countDocuments();
        },
        breakIt: async () => breakDatabase(id),
        delay: (times) => delayOf(runTask, purgeOf(id), times),
      };
    },
    // The clock has a task for every project there is.
    run: async () => {
      for (const id of withIdleUsers) await runTask({ Records: [recordOf(purgeOf(id), 1)] });
    },
  },
];
