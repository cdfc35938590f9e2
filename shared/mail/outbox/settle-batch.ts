import { ObjectId } from 'mongodb';
import type { BatchItem, BatchOutcome } from '../../clients/resend-mails.ts';
import { clock } from '../../core/clock.ts';
import { describeError, log } from '../../core/log.ts';
import { onMailLogs } from '../mail-log.ts';
import { giveSlotsBack, keepSlots, type Slots } from './mail-quota.ts';
import { sentChange } from './settle-mail.ts';

type Items = ReadonlyMap<string, BatchItem>;

const idsOf = (items: Items, key: 'id' | 'error'): string[] =>
  [...items].flatMap(([id, item]) => (key in item ? [id] : []));

const toObjectIds = (ids: readonly string[]): ObjectId[] => ids.map((id) => new ObjectId(id));

const writeOutcomes = (items: Items): Promise<unknown> => {
  const updatedAt = new Date(clock.now());
  const operations = [...items].map(([id, item]) => ({
    updateOne:
      'id' in item
        ? { filter: { _id: new ObjectId(id) }, update: sentChange({ providerEmailId: item.id }) }
        : {
            filter: { _id: new ObjectId(id), status: 'queued' as const, lastEventAt: { $exists: false } },
            update: { $set: { status: 'failed' as const, reason: item.error.slice(0, 300), updatedAt } },
          },
  }));
  return onMailLogs((logs) => logs.bulkWrite(operations, { ordered: false }));
};

/** The jobs of failed mails go last, so that they bring their slots back if this is cut short. */
const settle = async (slots: Slots, items: Items): Promise<void> => {
  await writeOutcomes(items);
  await keepSlots({ ...slots, ids: idsOf(items, 'id') });
  const failed = idsOf(items, 'error');
  if (failed.length === 0) return;
  await giveSlotsBack({ ...slots, ids: failed });
  await onMailLogs((logs) =>
    logs.updateMany({ _id: { $in: toObjectIds(failed) }, status: 'failed' }, { $unset: { job: '' } }),
  );
};

/** Notes why the outcome is not known; the jobs stay, and are looked at again after an hour. */
const leaveOpen = async ({ ids }: Slots, reason: string): Promise<void> => {
  const open = { reason, updatedAt: new Date(clock.now()) };
  await onMailLogs((logs) =>
    logs.updateMany(
      { _id: { $in: toObjectIds(ids) }, status: 'queued', lastEventAt: { $exists: false } },
      { $set: open },
    ),
  );
};

/**
 * Writes into the logs what became of a batch, whose slots are in the order of its mails; slots of mails that were not
 * sent come back. Never throws: the mails are sent by now, and an error would have them sent again. What is not written
 * is put right by the provider's events.
 */
export const settleBatch = async (slots: Slots, outcome: BatchOutcome): Promise<void> => {
  const { ids } = slots;
  try {
    if (outcome.kind === 'postponed' && outcome.maybeTaken) return await leaveOpen(slots, outcome.reason);
    const items = outcome.kind === 'answered' ? outcome.items : ids.map(() => ({ error: outcome.reason }));
    await settle(slots, new Map(ids.map((id, index) => [id, items[index] ?? { error: 'Not sent' }])));
  } catch (error) {
    log.error({ message: 'The outcome of a batch could not be written', mails: ids, error: describeError(error) });
  }
};
