import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import * as v from 'valibot';
import { clock, dayMs } from '../core/clock.ts';
import { batched } from '../core/concurrency.ts';
import { webhookQueueSettings } from '../core/config.ts';
import { logFailure } from '../core/log.ts';
import { onDuplicateKey } from '../core/retry.ts';
import { type Requeued, requeue } from '../persistence/jobs.ts';
import { acquire, changeHeld, claimStale, release } from '../persistence/lease.ts';
import { sendMessages } from '../persistence/sqs.ts';
import { loadProject } from '../projects/find-project.ts';
import type { Project } from '../projects/project.ts';
import { type DueEvent, loadDueEvents, sendEvent } from './event-body.ts';
import { queueWebhookCheck } from './events.ts';
import { followFeeds } from './feeds.ts';
import { dueDeliveries, nextDue, noteReceipt, recordDeliveries, rescheduleDelivery } from './outcomes.ts';
import { type DeliveryRecord, deliveryRecords, leasedWebhooks, type WebhookRecord, webhookRecords } from './records.ts';

/** Longer than an attempt that starts with the least time left. */
const leaseMs = 40_000;
const leastLeftMs = 25_000;

/** After this a run starts nothing; another run continues. */
const runMs = 30_000;

const maxConcurrent = 20;

/** Entries read together by one or two commands. */
const loadedAtOnce = maxConcurrent / 2;

/** Interval of checks for new entries while all due ones are in flight. */
const pollMs = 500;

/** Interval of checks by the schedule. */
const checkAgainMs = 5 * 60_000;

/** A disabled webhook only sends tests. */
const idleMs = dayMs;

/** Limits runs of slow receivers, so that others always find one. */
const maxSlow = 2;
const slowWaitSeconds = 5;

const leaseEnd = (): Date => new Date(clock.now() + leaseMs);

const claimWebhook = (_id: ObjectId): Promise<WebhookRecord | null> => {
  const until = leaseEnd();
  return acquire(leasedWebhooks, { _id }, until, { $set: { dueAt: until } });
};

/** Claims a webhook, or tells the run that has it to check again. That run may just have ended. */
const claimOrWake = async (_id: ObjectId): Promise<WebhookRecord | null> => {
  const claimed = await claimWebhook(_id);
  if (claimed) return claimed;
  await webhookRecords.updateOne({ _id }, { $inc: { nudges: 1 } });
  return claimWebhook(_id);
};

/** Extends the lease; `null` if the webhook was deleted or another run has it. */
const renew = (webhook: WebhookRecord): Promise<WebhookRecord | null> => {
  const until = leaseEnd();
  return claimStale(leasedWebhooks, webhook, { $set: { leasedUntil: until, dueAt: until } });
};

/** Takes a place among the slow ones; keeps that of a killed run. */
const takePlace = async (webhook: WebhookRecord): Promise<boolean> => {
  if (!webhook.isSlow || webhook.slowPlace !== undefined) return true;
  for (let slowPlace = 0; slowPlace < maxSlow; slowPlace++) {
    const taken = changeHeld(leasedWebhooks, webhook, { $set: { slowPlace } });
    if (await onDuplicateKey(taken, () => false)) return true;
  }
  return false;
};

/** Ends the lease; false if it was woken meanwhile. */
const releaseWebhook = async (webhook: WebhookRecord, dueAt: Date): Promise<boolean> => {
  const same = { ...leasedWebhooks, while: ['nudges'] };
  return release(same, webhook, { $set: { dueAt }, $unset: { slowPlace: '' } });
};

/** Deliveries in flight during the deletion created log entries after it. */
const removeLogOfDeleted = async ({ _id }: WebhookRecord): Promise<void> => {
  const isThere = await webhookRecords.findOne({ _id }, { projection: { _id: 1 } });
  if (!isThere) await deliveryRecords.deleteMany({ webhookId: _id });
};

class WebhookRun {
  readonly #project: Project;
  readonly #flights = new Map<string, { readonly entry: DeliveryRecord; readonly ended: Promise<void> }>();
  readonly #save = batched(recordDeliveries);
  #webhook: WebhookRecord;

  constructor(project: Project, webhook: WebhookRecord) {
    this.#project = project;
    this.#webhook = webhook;
  }

  /** Sends due and new events until none is left or time is over. */
  async work(end: number): Promise<void> {
    try {
      while (await this.#renew()) {
        const isLate = performance.now() >= end;
        const more = !isLate && this.#webhook.enabled && (await followFeeds(this.#project, this.#webhook));
        const started = isLate ? 0 : await this.#startDue(end);
        if (more || started > 0) continue;
        if (this.#flights.size > 0) await this.#waitInFlight(isLate);
        else if (await this.#releaseWebhook(isLate)) return;
      }
    } finally {
      await this.#allEnded();
    }
    await removeLogOfDeleted(this.#webhook);
  }

  async #renew(): Promise<boolean> {
    const renewed = await renew(this.#webhook);
    if (renewed) this.#webhook = renewed;
    return renewed !== null;
  }

  #isHeldFor(ms: number): boolean {
    return this.#webhook.leasedUntil.getTime() - clock.now() > ms;
  }

  async #startDue(end: number): Promise<number> {
    const inFlight = [...this.#flights.values()].map(({ entry }) => entry._id);
    const due = await dueDeliveries(this.#webhook, inFlight);
    let started = 0;
    while (started < due.length) {
      while (this.#flights.size > maxConcurrent - loadedAtOnce) await this.#oneEnded();
      if (performance.now() >= end || !this.#isHeldFor(leastLeftMs)) break;
      const entries = due.slice(started, started + loadedAtOnce);
      for (const event of await this.#load(entries)) this.#start(event);
      started += entries.length;
    }
    return started;
  }

  async #load(entries: readonly DeliveryRecord[]): Promise<readonly DueEvent[]> {
    try {
      return await loadDueEvents(this.#project, this.#webhook, entries);
    } catch (error) {
      await this.#putOff(entries, error);
      return [];
    }
  }

  #start(due: DueEvent): void {
    const { entry } = due;
    const key = entry._id.toHexString();
    const ended = this.#deliver(due).finally(() => this.#flights.delete(key));
    this.#flights.set(key, { entry, ended });
  }

  /** May be interrupted and repeated; the event is then sent again. */
  async #deliver(due: DueEvent): Promise<void> {
    const webhook = this.#webhook;
    try {
      const receipt = await sendEvent(webhook, due.event);
      await this.#save({ ...due, receipt });
      await noteReceipt(this.#project, webhook, receipt);
    } catch (error) {
      await this.#putOff([due.entry], error);
    }
  }

  async #putOff(entries: readonly DeliveryRecord[], error: unknown): Promise<void> {
    logFailure({ job: 'deliver-webhooks', webhook: this.#webhook._id.toHexString() }, error);
    await Promise.all(entries.map(rescheduleDelivery)).catch(() => undefined);
  }

  #oneEnded(): Promise<void> {
    return Promise.race([...this.#flights.values()].map(({ ended }) => ended));
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.#flights.values()].map(({ ended }) => ended));
  }

  async #waitInFlight(isLate: boolean): Promise<void> {
    if (isLate) return this.#allEnded();
    const waiting = new AbortController();
    await Promise.race([this.#oneEnded(), pause(pollMs, undefined, { signal: waiting.signal }).catch(() => undefined)]);
    waiting.abort();
  }

  /** Ends the lease and schedules the next run; false if there is more to do now. */
  async #releaseWebhook(isLate: boolean): Promise<boolean> {
    const webhook = this.#webhook;
    const next = isLate ? new Date(clock.now()) : await nextDue(webhook);
    const inMs = next ? Math.max(0, next.getTime() - clock.now()) : Number.POSITIVE_INFINITY;
    if (inMs === 0 && !isLate) return false;
    // Normally the message comes before the schedule.
    const againMs = webhook.enabled ? checkAgainMs : idleMs;
    const dueAt = new Date(clock.now() + Math.min(againMs, inMs + checkAgainMs / 10));
    if (!(await releaseWebhook(webhook, dueAt))) return false;
    if (inMs < checkAgainMs) await this.#comeBack(Math.ceil(inMs / 1000));
    return true;
  }

  async #comeBack(seconds: number): Promise<void> {
    await queueWebhookCheck({ webhookId: this.#webhook._id.toHexString() }, seconds).catch(() => undefined);
  }
}

/**
 * Reads the feeds and sends due events concurrently, but those of one resource in order. One run per webhook at a time;
 * may be interrupted anywhere. Does nothing for an unknown id.
 */
export const runWebhook = async (_id: ObjectId, limitMs = runMs): Promise<void> => {
  const webhook = await claimOrWake(_id);
  if (!webhook) return;
  const project = await loadProject(webhook.projectId);
  if (!project) return;
  if (!(await takePlace(webhook))) {
    const dueAt = new Date(clock.now() + slowWaitSeconds * 1000);
    await release(leasedWebhooks, webhook, { $set: { dueAt } });
    await queueWebhookCheck({ webhookId: _id.toHexString() }, slowWaitSeconds).catch(() => undefined);
    return;
  }
  await new WebhookRun(project, webhook).work(performance.now() + limitMs);
};

const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/));

/** Queue message: check a project's webhooks, or one. */
const schema = v.pipe(
  v.string(),
  v.parseJson(),
  v.union([v.strictObject({ projectId: id }), v.strictObject({ webhookId: id })]),
);

const webhooksIn = async (message: v.InferOutput<typeof schema>): Promise<readonly ObjectId[]> => {
  if ('webhookId' in message) return [new ObjectId(message.webhookId)];
  const mine = { projectId: new ObjectId(message.projectId) };
  const found = await webhookRecords.find(mine, { projection: { _id: 1 } });
  return found.map(({ _id }) => _id);
};

/** Handles all webhooks of a message concurrently; ignores malformed messages. */
export const handleWebhookMessage = async (body: string, limitMs?: number): Promise<void> => {
  const { success, output: message } = v.safeParse(schema, body);
  if (!success) return;
  const runs = (await webhooksIn(message)).map((_id) => runWebhook(_id, limitMs));
  for (const outcome of await Promise.allSettled(runs)) if (outcome.status === 'rejected') throw outcome.reason;
};

const now = (): Date => new Date(clock.now());

/** Due after some minutes; covers lost messages and dead runs. */
const dueWebhooks: Requeued<WebhookRecord> = {
  name: 'requeue-webhooks',
  records: webhookRecords,
  dueAt: 'dueAt',
  due: () => ({ dueAt: { $lte: now() } }),
  open: {},
  send: (ids) =>
    sendMessages(
      webhookQueueSettings().WEBHOOK_QUEUE_URL,
      ids.map((webhookId) => JSON.stringify({ webhookId })),
    ),
  lostAt: () => new Date(clock.now() + checkAgainMs / 5),
  limitMs: 40_000,
};

/** Queues due webhooks, or all with `queueIsEmpty`. Returns their number. */
export const requeueWebhooks = async ({ queueIsEmpty = false } = {}): Promise<number> => {
  if (queueIsEmpty) await webhookRecords.updateMany({}, { $set: { dueAt: now(), leasedUntil: new Date(0) } });
  return requeue(dueWebhooks);
};
