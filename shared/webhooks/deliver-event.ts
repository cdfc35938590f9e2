import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { describeError, log } from '../core/log.ts';
import { type DeliveryRecord, deliveryRecords } from '../events/delivery-record.ts';
import type { WebhookRecord } from '../events/webhook-record.ts';
import type { Project } from '../projects/project.ts';
import { putRowOff } from './due-deliveries.ts';
import { bodyOf, type DueEvent, eventsOf, type ProjectEvent, sentId, sourceOf, type Telling } from './event-of.ts';
import { postEvent, type Receipt } from './post-event.ts';
import { dropRow } from './settle-delivery.ts';
import { signedWebhookHeaders, signingSecrets } from './signing.ts';

const isTest = ({ thing }: Pick<DeliveryRecord, 'thing'>): boolean => thing.startsWith('test/');

const isWanted = ({ events }: WebhookRecord, { row, event }: Telling): boolean =>
  event !== undefined && (isTest(row) || (events as readonly string[]).includes(event.type));

/** Those that the receiver has had as they are, and nobody asked for it once more; in one find for all of a webhook. */
const repeatsIn = async ({ _id }: WebhookRecord, events: readonly DueEvent[]): Promise<readonly DueEvent[]> => {
  const asked = events.filter(({ row }) => !row.isReplay && !isTest(row));
  const unknown = asked.filter(({ row }) => row.sent === undefined);
  const earlier = {
    webhookId: _id,
    thing: { $in: unknown.map(({ row }) => row.thing) },
    state: 'delivered' as const,
    sent: { $in: unknown.map(({ event }) => event.id) },
  };
  const had = unknown.length === 0 ? [] : await deliveryRecords.find(earlier, { projection: { thing: 1, sent: 1 } });
  return asked.filter(({ row, event: { id } }) =>
    row.sent === undefined ? had.some(({ thing, sent }) => thing === row.thing && sent === id) : row.sent === id,
  );
};

/** What rows of one source have to tell. An own database that does not answer is its owner's to fix: they wait. */
const readSource = async (project: Project, rows: readonly DeliveryRecord[]): Promise<readonly Telling[]> => {
  try {
    return await eventsOf(project, rows);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    log.warn({ job: 'deliver-webhooks', webhook: rows[0]?.webhookId.toHexString(), error: describeError(error) });
    await Promise.all(rows.map(putRowOff));
    return [];
  }
};

/** What there is to send of rows of a webhook, as their things are now; those that have nothing to tell go. */
export const loadDueEvents = async (
  project: Project,
  webhook: WebhookRecord,
  rows: readonly DeliveryRecord[],
): Promise<readonly DueEvent[]> => {
  const sources = [...Map.groupBy(rows, sourceOf).values()];
  const told = (await Promise.all(sources.map((source) => readSource(project, source)))).flat();
  const wanted = told.filter((one): one is DueEvent => isWanted(webhook, one));
  const repeats = await repeatsIn(webhook, wanted);
  const events = wanted.filter((one) => !repeats.includes(one));
  const sent = new Set(events.map(({ row }) => row));
  await Promise.all(told.filter(({ row }) => !sent.has(row)).map(({ row }) => dropRow(row)));
  return events;
};

/** Sends an event to its receiver, signed. It may be sent once more, under the same id. */
export const sendEvent = async (webhook: WebhookRecord, event: ProjectEvent): Promise<Receipt> => {
  const body = bodyOf(event, new Date(clock.now()));
  const id = sentId(event.id);
  return postEvent(webhook.url, signedWebhookHeaders(await signingSecrets(webhook), id, body), body);
};
