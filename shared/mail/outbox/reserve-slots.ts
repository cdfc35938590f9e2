import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import { mailLogs } from '../mail-log.ts';
import { giveSlotsBack, keepSlots, type MailUsage, type MailUse, type Slots, takeSlots } from './mail-quota.ts';
import type { Account } from './mail-tallies.ts';

/** A mail without a log by then was never accepted. */
const patienceMs = 15 * 60_000;

/** The most that are looked at in one go. */
const maxSettled = 1000;

const isStale = (id: string): boolean => new ObjectId(id).getTimestamp().getTime() + patienceMs < clock.now();

/**
 * Settles slots that a crash left in `held`: those of failed or never accepted mails are returned, those of sent mails
 * stay counted. Returns how many were returned.
 */
export const settleHeldSlots = async ({ ids, ...slots }: Slots): Promise<number> => {
  const stale = ids.filter(isStale).slice(0, maxSettled);
  if (stale.length === 0) return 0;
  const rows = await mailLogs.find(
    { _id: { $in: stale.map((id) => new ObjectId(id)) } },
    { projection: { status: 1, 'job.slot': 1 } },
  );
  const known = new Map(rows.map((row) => [row._id.toHexString(), row]));
  const settled = stale.filter((id) => !known.get(id)?.job);
  const lost = settled.filter((id) => (known.get(id)?.status ?? 'failed') === 'failed');
  const sent = settled.filter((id) => !lost.includes(id));
  for (let start = 0; start < sent.length; start += 100) {
    await keepSlots({ ...slots, ids: sent.slice(start, start + 100) });
  }
  let back = 0;
  for (let start = 0; start < lost.length; start += 100) {
    back += await giveSlotsBack({ ...slots, ids: lost.slice(start, start + 100) });
  }
  if (back > 0) {
    const { projectId, month } = slots;
    log.warn({ message: 'Slots of the mail quota had been left behind', projectId, month, back });
  }
  return back;
};

/** Slots that were taken, and how the quota stands with them where that is known. */
interface Reservation {
  readonly slots: Slots;
  readonly usage: MailUsage | undefined;
}

/**
 * Takes a slot of the month's quota for each of 1 to 100 mails, and what else they need, or nothing and 429
 * `MAIL_QUOTA_EXCEEDED`. One conditional write; before it refuses, what crashes have left behind is given back.
 */
export const reserveSlots = async (
  project: Account,
  ids: readonly string[],
  use: MailUse = {},
): Promise<Reservation> => {
  const first = await takeSlots(project, ids, use);
  if (first.taken) return first;
  if (!first.held.ids.some(isStale)) throw first.refusal;
  await settleHeldSlots(first.held);
  const second = await takeSlots(project, ids, use);
  if (second.taken) return second;
  throw second.refusal;
};
