import { ObjectId } from 'mongodb';
import { handler as sendBatch } from '../../../../functions/mail/send-batch.ts';
import { handler as sendMailHandler } from '../../../../functions/mail/send-mail.ts';
import { deliverMail } from '../../../../shared/mail/deliver.ts';
import { sendMail } from '../../../../shared/mail/send.ts';
import { invoke } from '../../clients/invoke.ts';
import {
  makeProject,
  newAddress,
  type Operation,
  type OwnProject,
  requireEqual,
  requireStatus,
  runOf,
} from './operation.ts';
import type { World } from './world.ts';

const mailTo = (to: string) => ({ to, subject: 'Hello', text: 'Hi' });

/** A mail more in the month, as goes out of any project that sends some: its delivery looks after slots left behind. */
const another = (project: OwnProject) => (): Promise<unknown> => sendMail(project.project, mailTo(newAddress()));

/** The log and the provider agree: a mail that was sent is there once, no mail twice. */
const requireOnce = async (
  world: World,
  project: OwnProject,
  address: string,
  { failedMayBeSent = false } = {},
): Promise<void> => {
  const rows = await world.at.control('mailLogs', { projectId: new ObjectId(project.id), to: address });
  const sent = rows.filter(({ status }) => status !== 'failed').length;
  const there = await world.mailsTo(address);
  if (failedMayBeSent && there > sent && there <= rows.length) return;
  requireEqual(`mails of ${rows.length}`, there, sent);
};

export const mailOperations: readonly Operation[] = [
  {
    name: 'send',
    prepare: async (world) => {
      const project = await makeProject();
      const address = newAddress();
      const act = async (): Promise<number> =>
        (await invoke(sendMailHandler, { key: project.secretKey, body: mailTo(address) })).status;
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second mail', await act(), 200),
        later: another(project),
        verify: async (done) => {
          await requireOnce(world, project, address);
          if (done && (await world.mailsTo(address)) === 0) throw new Error('The mail was never sent');
        },
      };
    },
  },
  {
    name: 'delivery of a mail',
    prepare: async (world) => {
      const project = await makeProject();
      const address = newAddress();
      const { id } = await sendMail(project.project, mailTo(address));
      return {
        projectIds: [project.id],
        act: () => runOf(() => deliverMail(id, 1)),
        later: another(project),
        verify: async () => {
          await requireOnce(world, project, address);
          requireEqual('mails', await world.mailsTo(address), 1);
        },
      };
    },
  },
  {
    name: 'last delivery of a mail that fails',
    prepare: async (world) => {
      const project = await makeProject();
      const { id } = await sendMail(project.project, { ...mailTo(newAddress()), to: 'suppressed@example.com' });
      await world.at.mongo
        .db(process.env.CONTROL_DATABASE ?? '')
        .collection('mailSuppressions')
        .insertOne({ projectId: new ObjectId(project.id), email: 'suppressed@example.com', createdAt: new Date() });
      return {
        projectIds: [project.id],
        act: () => runOf(() => deliverMail(id, 8)),
        later: another(project),
        verify: async () => {
          const [row] = await world.at.control('mailLogs', { _id: new ObjectId(id) });
          requireEqual('its state', row?.status, 'failed');
        },
      };
    },
  },
  {
    name: 'batch',
    // Where the first try to take its slots arrives after the batch was sent and settled, they are taken twice, and
    // stay so.
    faults: ['stop', 'crash', 'lose', 'blip', 'late', 'hang'],
    prepare: async (world) => {
      const project = await makeProject();
      const addresses = [newAddress(), newAddress(), newAddress()];
      const act = async (): Promise<number> =>
        (await invoke(sendBatch, { key: project.secretKey, body: addresses.map(mailTo) })).status;
      return {
        projectIds: [project.id],
        act,
        later: another(project),
        // Without an answer of the provider, and without its events, a batch counts as failed after an hour.
        verify: async () => {
          for (const address of addresses) await requireOnce(world, project, address, { failedMayBeSent: true });
        },
      };
    },
  },
];
