import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { describeError, log } from '../core/log.ts';
import { type DeliveryRecord, deliveryRecords } from '../events/delivery-record.ts';
import type { WebhookRecord } from '../events/webhook-record.ts';
import type { Project } from '../projects/project.ts';
import { putRowOff } from './due-deliveries.ts';
import { bodyOf, eventOf, type ProjectEvent } from './event-of.ts';
import { postEvent, type Receipt } from './post-event.ts';
import { dropRow, settleDelivery } from './settle-delivery.ts';
import { signedWebhookHeaders, signingSecrets } from './signing.ts';

export const isTest = ({ thing }: Pick<DeliveryRecord, 'thing'>): boolean => thing.startsWith('test/');

/** Whether the receiver has had this very event, and nobody asked for it once more. */
const isRepeat = async ({ webhookId, thing, isReplay, sent }: DeliveryRecord, { id }: ProjectEvent) => {
  if (isReplay || thing.startsWith('test/')) return false;
  if (sent !== undefined) return sent === id;
  const earlier = { webhookId, thing, state: 'delivered' as const, sent: id };
  return (await deliveryRecords.findOne(earlier, { projection: { _id: 1 } })) !== null;
};

const isWanted = ({ events }: WebhookRecord, row: DeliveryRecord, { type }: ProjectEvent): boolean =>
  isTest(row) || (events as readonly string[]).includes(type);

/**
 * Delivers what one row waits for: reads the thing as it is now, sends it signed and writes down what came of it. May be
 * repeated and cut short anywhere: then it is sent once more, under the same id. `undefined` where nothing was sent.
 */
export const deliverEvent = async (
  project: Project,
  webhook: WebhookRecord,
  row: DeliveryRecord,
): Promise<Receipt | undefined> => {
  let event: ProjectEvent | undefined;
  try {
    event = await eventOf(project, row);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // An own database that does not answer is its owner's to fix.
    log.warn({ job: 'deliver-webhooks', webhook: webhook._id.toHexString(), error: describeError(error) });
    await putRowOff(row);
    return undefined;
  }
  if (!event || !isWanted(webhook, row, event) || (await isRepeat(row, event))) {
    await dropRow(row);
    return undefined;
  }
  const body = bodyOf(event, new Date(clock.now()));
  const id = encodeURI(event.id);
  const headers = signedWebhookHeaders(await signingSecrets(webhook), id, body);
  const receipt = await postEvent(webhook.url, headers, body);
  await settleDelivery(row, event, receipt);
  return receipt;
};
