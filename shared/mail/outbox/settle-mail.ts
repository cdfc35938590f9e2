import type { Document } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import { type MailLog, mailLogs } from '../mail-log.ts';
import { slotOf } from './job-slot.ts';
import { giveSlotsBack, keepSlots } from './mail-quota.ts';

/** What the provider said of a mail that it took. */
interface Acceptance {
  readonly providerEmailId?: string;
  /** The subject as it was sent, where it was not known before. */
  readonly subject?: string;
}

/** An event that arrived before the response of the provider is newer, so its value is kept. */
const unlessEvent = (value: unknown, otherwise: string) => ({
  $cond: [{ $eq: [{ $type: '$lastEventAt' }, 'missing'] }, value, otherwise],
});

/**
 * The change to a log whose mail the provider has: `sent`, unless an event has said more, and nothing left to do;
 * `known` are fields of the log and expressions of what the provider said.
 */
export const sentChange = (known: Document): Document[] => {
  const now = new Date(clock.now());
  return [
    {
      $set: {
        status: unlessEvent('sent', '$status'),
        reason: unlessEvent('$$REMOVE', '$reason'),
        sentAt: now,
        updatedAt: now,
        ...known,
      },
    },
    { $unset: 'job' },
  ];
};

/** The provider has the mail: its content is forgotten, its slot stays counted. */
export const settleSent = async (mail: MailLog, { providerEmailId, subject }: Acceptance = {}): Promise<void> => {
  const change = sentChange({
    ...(providerEmailId !== undefined && { providerEmailId: { $literal: providerEmailId } }),
    ...(subject !== undefined && { subject: { $literal: subject } }),
  });
  await mailLogs.updateOne({ _id: mail._id }, change);
  const slot = slotOf(mail);
  if (slot) await keepSlots(slot);
};

/** A failed mail's slot comes back, then its job is done; may be repeated where it was cut short. */
export const finishFailed = async (mail: MailLog): Promise<void> => {
  const slot = slotOf(mail);
  if (slot) await giveSlotsBack(slot);
  await mailLogs.updateOne({ _id: mail._id, status: 'failed' }, { $unset: { job: '' } });
};

/**
 * The mail has failed for good, unless an event says that the provider has it after all. The job stays until the slot
 * has come back, so that neither can be without the other.
 */
export const settleFailed = async (mail: MailLog, reason: string): Promise<void> => {
  const failed = { status: 'failed' as const, reason, updatedAt: new Date(clock.now()) };
  const { matchedCount } = await mailLogs.updateOne(
    { _id: mail._id, status: 'queued', lastEventAt: { $exists: false }, job: { $exists: true } },
    { $set: failed, $unset: { 'job.content': '' } },
  );
  if (matchedCount === 0) return;
  log.warn({ job: 'deliver-mail', mail: mail._id.toHexString(), reason });
  await finishFailed(mail);
};
