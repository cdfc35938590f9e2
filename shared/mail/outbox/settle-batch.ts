import { type Document, ObjectId } from 'mongodb';
import type { BatchItem, BatchOutcome } from '../../clients/resend-mails.ts';
import { cutText } from '../../core/bounded-text.ts';
import { clock } from '../../core/clock.ts';
import { orLog } from '../../core/log.ts';
import { mailLogs } from '../mail-log.ts';
import { giveSlotsBack, keepSlots, type Slots } from './mail-quota.ts';
import { sentChange } from './settle-mail.ts';

/** Logs that nothing has been written into yet of what the provider has said. */
const stillOpen = { status: 'queued', lastEventAt: { $exists: false } } as const;

/** Mails by their ids, and what the provider said of each: its own id of the mail, or why there is none. */
type Said = ReadonlyMap<string, string>;

const toObjectIds = (ids: Iterable<string>): ObjectId[] => [...ids].map((id) => new ObjectId(id));

/** In one update of several logs, what was said of each. */
const saidOfEach = (said: Said): Document => ({
  $arrayElemAt: [{ $literal: [...said.values()] }, { $indexOfArray: [{ $literal: toObjectIds(said.keys()) }, '$_id'] }],
});

/** One update of all of them, which costs the database a third of one each. */
const writeSent = (sent: Said): Promise<unknown> =>
  mailLogs.updateMany({ _id: { $in: toObjectIds(sent.keys()) } }, sentChange({ providerEmailId: saidOfEach(sent) }));

/** The same of those that were not sent, unless an event says that they were after all. */
const writeFailed = (failed: Said): Promise<unknown> =>
  mailLogs.updateMany({ ...stillOpen, _id: { $in: toObjectIds(failed.keys()) } }, [
    { $set: { status: 'failed', reason: saidOfEach(failed), updatedAt: new Date(clock.now()) } },
  ]);

/** The driver repeats no update of several logs; what these set they may set again. */
const twice = (write: () => Promise<unknown>): Promise<unknown> => write().catch(write);

/** The logs first; the jobs of failed mails go last, so that they bring their slots back if this is cut short. */
const settle = async (slots: Slots, items: readonly BatchItem[]): Promise<void> => {
  const [sent, failed] = [new Map<string, string>(), new Map<string, string>()];
  for (const [at, id] of slots.ids.entries()) {
    const item = items[at] ?? { error: 'Not sent' };
    if ('id' in item) sent.set(id, item.id);
    else failed.set(id, cutText(item.error, 300));
  }
  if (sent.size > 0) await twice(() => writeSent(sent));
  if (failed.size > 0) await twice(() => writeFailed(failed));
  await keepSlots({ ...slots, ids: [...sent.keys()] });
  if (failed.size === 0) return;
  await giveSlotsBack({ ...slots, ids: [...failed.keys()] });
  await mailLogs.updateMany({ _id: { $in: toObjectIds(failed.keys()) }, status: 'failed' }, { $unset: { job: '' } });
};

/** Notes why the outcome is not known; the jobs stay, and are looked at again after an hour. */
const leaveOpen = async ({ ids }: Slots, reason: string): Promise<void> => {
  const open = { reason, updatedAt: new Date(clock.now()) };
  await mailLogs.updateMany({ ...stillOpen, _id: { $in: toObjectIds(ids) } }, { $set: open });
};

/**
 * Writes into the logs what became of a batch, whose slots and items are in the order of its mails; slots of mails that
 * were not sent come back. Never throws: the mails are sent by now, and an error would have them sent again. What is
 * not written is put right by the provider's events.
 */
export const settleBatch = async (slots: Slots, outcome: BatchOutcome, items: readonly BatchItem[]): Promise<void> => {
  await orLog('error', { message: 'The outcome of a batch could not be written', mails: slots.ids }, () =>
    outcome.kind === 'postponed' && outcome.maybeTaken ? leaveOpen(slots, outcome.reason) : settle(slots, items),
  );
};
