import type { MailJob, MailLog } from '../mail-log.ts';
import type { Slots } from './mail-quota.ts';

/** What a mail's job keeps of its slot, by the mail's id, so that it can be given back. */
export const jobSlot = ({ month, shared }: Slots, id: string): Pick<MailJob, 'slot' | 'shared'> => {
  if (!shared) return { slot: month };
  const { owner, day, recipients } = shared;
  return { slot: month, shared: { owner, recipients: recipients[id] ?? 0, ...(day !== undefined && { day }) } };
};

/** The slot that a mail holds, if it holds one. */
export const slotOf = ({ _id, projectId, job }: MailLog): Slots | undefined => {
  if (job?.slot === undefined || projectId === null) return undefined;
  const id = _id.toHexString();
  const { shared } = job;
  return {
    projectId: projectId.toHexString(),
    month: job.slot,
    ids: [id],
    ...(shared && { shared: { ...shared, recipients: { [id]: shared.recipients } } }),
  };
};
