import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { requestIdNow } from '../../core/log.ts';
import { type JobContent, sealContent } from '../mail-content.ts';
import type { MailJob, MailLog } from '../mail-log.ts';
import { jobSlot } from './job-slot.ts';
import type { Slots } from './mail-quota.ts';
import { whenLost } from './retries.ts';

/** What a row of the log is made from. */
export type NewLog = Pick<MailLog, '_id' | 'to' | 'subject' | 'usingByok' | 'templateUsed'> & {
  /** 24 hex characters; `null` for mails of the service itself, and for those to nobody. */
  readonly projectId: string | null;
  readonly status?: MailLog['status'];
  readonly reason?: string;
  readonly job?: MailJob;
};

/** A row of the log for a mail that is accepted now; `queued` unless said otherwise. */
export const newLog = ({ projectId, status = 'queued', ...rest }: NewLog): MailLog => {
  const now = new Date(clock.now());
  return {
    ...rest,
    projectId: projectId === null ? null : new ObjectId(projectId),
    status,
    sentAt: now,
    createdAt: now,
    updatedAt: now,
  };
};

/** A job that anybody may take at once; `seconds` until the queue should have handed it out. */
export const newJob = (seconds = 0): MailJob => {
  const requestId = requestIdNow();
  return { leasedUntil: new Date(0), lostAt: whenLost(seconds), ...(requestId !== undefined && { requestId }) };
};

/** A job that sends something, with the slot that it has of a quota. */
export const sendingJob = async (_id: ObjectId, content: JobContent, slots?: Slots): Promise<MailJob> => ({
  ...newJob(),
  content: await sealContent(content, _id),
  ...(slots && jobSlot(slots, _id.toHexString())),
});
