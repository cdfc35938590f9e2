import { clock } from '../core/clock.ts';
import { type DeliveryRecord, deliveryRecords } from '../events/delivery-record.ts';
import type { WebhookRecord } from '../events/webhook-record.ts';

const pageSize = 100;

/** What of a webhook may be sent: all, or while it is switched off what tests ask for. */
const open = ({ _id, enabled }: Pick<WebhookRecord, '_id' | 'enabled'>) => ({
  webhookId: _id,
  state: 'waiting' as const,
  ...(!enabled && { thing: /^test\// }),
});

/** What is due of a webhook, the longest first, but for what is under way. */
export const dueDeliveries = (
  webhook: WebhookRecord,
  underWay: readonly DeliveryRecord['_id'][],
): Promise<DeliveryRecord[]> =>
  deliveryRecords.find(
    { ...open(webhook), nextAt: { $lte: new Date(clock.now()) }, _id: { $nin: [...underWay] } },
    { sort: { nextAt: 1 }, limit: pageSize },
  );

/** When something of a webhook is due next; `undefined` where nothing waits. */
export const nextDue = async (webhook: WebhookRecord): Promise<Date | undefined> => {
  const next = await deliveryRecords.findOne(open(webhook), { sort: { nextAt: 1 }, projection: { nextAt: 1 } });
  return next?.nextAt ?? undefined;
};

const patienceMs = 60_000;

/** Has a row wait that cannot be dealt with now, so that it keeps a run from nothing else. */
export const putRowOff = async ({ _id }: DeliveryRecord): Promise<void> => {
  const nextAt = new Date(clock.now() + patienceMs);
  await deliveryRecords.updateOne({ _id, state: 'waiting' }, { $set: { nextAt } });
};
