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
import { lookAt } from './events.ts';
import { followFeeds } from './feeds.ts';
import { type DeliveryRecord, deliveryRecords, leasedWebhooks, type WebhookRecord, webhookRecords } from './records.ts';
import { dueDeliveries, nextDue, noteReceipt, recordDeliveries, rescheduleDelivery } from './settle.ts';

/** Longer than a try takes that begins with the least that is left of it. */
const leaseMs = 40_000;
const leastLeftMs = 25_000;

/** A run begins nothing after so long; another carries on. */
const runMs = 30_000;

/** Deliveries of one webhook at the same time. */
const lanes = 20;

/** So many are read together, by a command or two for all. */
const loadedAtOnce = lanes / 2;

/** While all that is due is under way, what is new is looked for so often. */
const lookMs = 500;

/** The clock looks at every webhook so often, for what no message told of. */
const lookAgainMs = 5 * 60_000;

/** One that is switched off has nothing but tests to send. */
const idleMs = dayMs;

/** Of slow receivers few are worked on at once, so that there are always runs for all others. */
const maxSlow = 2;
const slowWaitSeconds = 5;

const leaseEnd = (): Date => new Date(clock.now() + leaseMs);

const claimWebhook = (_id: ObjectId): Promise<WebhookRecord | null> => {
  const until = leaseEnd();
  return acquire(leasedWebhooks, { _id }, until, { $set: { dueAt: until } });
};

/**
 * Claims a webhook for this run. Where another run has it, that one is told to look once more before it ends; it may
 * have ended just before it could know.
 */
const claimOrTell = async (_id: ObjectId): Promise<WebhookRecord | null> => {
  const claimed = await claimWebhook(_id);
  if (claimed) return claimed;
  await webhookRecords.updateOne({ _id }, { $inc: { nudges: 1 } });
  return claimWebhook(_id);
};

/** The webhook as it is now, held for longer; `null` where it is deleted, or another run has it. */
const renew = (webhook: WebhookRecord): Promise<WebhookRecord | null> => {
  const until = leaseEnd();
  return claimStale(leasedWebhooks, webhook, { $set: { leasedUntil: until, dueAt: until } });
};

/** Takes a place among the slow ones; a run that was killed has left its webhook the one that it had. */
const hasPlace = async (webhook: WebhookRecord): Promise<boolean> => {
  if (!webhook.isSlow || webhook.slowPlace !== undefined) return true;
  for (let slowPlace = 0; slowPlace < maxSlow; slowPlace++) {
    const taken = changeHeld(leasedWebhooks, webhook, { $set: { slowPlace } });
    if (await onDuplicateKey(taken, () => false)) return true;
  }
  return false;
};

/** Ends the lease, unless something was said meanwhile; then false. */
const letGo = async (webhook: WebhookRecord, dueAt: Date): Promise<boolean> => {
  const same = { ...leasedWebhooks, while: ['nudges'] };
  return release(same, webhook, { $set: { dueAt }, $unset: { slowPlace: '' } });
};

/** What was on its way while a webhook was deleted has come to the log after the rest of it was gone. */
const removeLogOfDeleted = async ({ _id }: WebhookRecord): Promise<void> => {
  const isThere = await webhookRecords.findOne({ _id }, { projection: { _id: 1 } });
  if (!isThere) await deliveryRecords.deleteMany({ webhookId: _id });
};

/** The run of one webhook, which it holds. */
class WebhookRun {
  readonly #project: Project;
  readonly #flights = new Map<string, { readonly row: DeliveryRecord; readonly ended: Promise<void> }>();
  readonly #settle = batched(recordDeliveries);
  #webhook: WebhookRecord;

  constructor(project: Project, webhook: WebhookRecord) {
    this.#project = project;
    this.#webhook = webhook;
  }

  /** Sends what is due and what comes up, until nothing is left or the time is over. */
  async work(end: number): Promise<void> {
    try {
      while (await this.#renew()) {
        const isLate = performance.now() >= end;
        const more = !isLate && this.#webhook.enabled && (await followFeeds(this.#project, this.#webhook));
        const started = isLate ? 0 : await this.#startDue(end);
        if (more || started > 0) continue;
        if (this.#flights.size > 0) await this.#whileUnderWay(isLate);
        else if (await this.#letGo(isLate)) return;
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
    const underWay = [...this.#flights.values()].map(({ row }) => row._id);
    const due = await dueDeliveries(this.#webhook, underWay);
    let started = 0;
    while (started < due.length) {
      while (this.#flights.size > lanes - loadedAtOnce) await this.#oneEnded();
      if (performance.now() >= end || !this.#isHeldFor(leastLeftMs)) break;
      const rows = due.slice(started, started + loadedAtOnce);
      for (const event of await this.#load(rows)) this.#start(event);
      started += rows.length;
    }
    return started;
  }

  /** What there is to send of rows; where that fails nothing, and they wait. */
  async #load(rows: readonly DeliveryRecord[]): Promise<readonly DueEvent[]> {
    try {
      return await loadDueEvents(this.#project, this.#webhook, rows);
    } catch (error) {
      await this.#putOff(rows, error);
      return [];
    }
  }

  #start(due: DueEvent): void {
    const { row } = due;
    const key = row._id.toHexString();
    const ended = this.#deliver(due).finally(() => this.#flights.delete(key));
    this.#flights.set(key, { row, ended });
  }

  /** May be repeated and cut short anywhere: then it is sent once more. */
  async #deliver(due: DueEvent): Promise<void> {
    const webhook = this.#webhook;
    try {
      const receipt = await sendEvent(webhook, due.event);
      await this.#settle({ ...due, receipt });
      await noteReceipt(this.#project, webhook, receipt);
    } catch (error) {
      await this.#putOff([due.row], error);
    }
  }

  async #putOff(rows: readonly DeliveryRecord[], error: unknown): Promise<void> {
    logFailure({ job: 'deliver-webhooks', webhook: this.#webhook._id.toHexString() }, error);
    await Promise.all(rows.map(rescheduleDelivery)).catch(() => undefined);
  }

  #oneEnded(): Promise<void> {
    return Promise.race([...this.#flights.values()].map(({ ended }) => ended));
  }

  async #allEnded(): Promise<void> {
    await Promise.all([...this.#flights.values()].map(({ ended }) => ended));
  }

  async #whileUnderWay(isLate: boolean): Promise<void> {
    if (isLate) return this.#allEnded();
    const waiting = new AbortController();
    await Promise.race([this.#oneEnded(), pause(lookMs, undefined, { signal: waiting.signal }).catch(() => undefined)]);
    waiting.abort();
  }

  /** Ends the lease and says when it goes on; false where there is something to do at once. */
  async #letGo(isLate: boolean): Promise<boolean> {
    const webhook = this.#webhook;
    const next = isLate ? new Date(clock.now()) : await nextDue(webhook);
    const inMs = next ? Math.max(0, next.getTime() - clock.now()) : Number.POSITIVE_INFINITY;
    if (inMs === 0 && !isLate) return false;
    // The message comes first where it is not lost.
    const againMs = webhook.enabled ? lookAgainMs : idleMs;
    const dueAt = new Date(clock.now() + Math.min(againMs, inMs + lookAgainMs / 10));
    if (!(await letGo(webhook, dueAt))) return false;
    if (inMs < lookAgainMs) await this.#comeBack(Math.ceil(inMs / 1000));
    return true;
  }

  async #comeBack(seconds: number): Promise<void> {
    await lookAt({ webhookId: this.#webhook._id.toHexString() }, seconds).catch(() => undefined);
  }
}

/**
 * Delivers what there is to deliver of one webhook: reads on in the feeds of its collections and sends what is due,
 * many at once, of each thing one after the other. One run at a time has a webhook; any number may be started, cut
 * short anywhere. Unknown → nothing.
 */
export const runWebhook = async (_id: ObjectId, limitMs = runMs): Promise<void> => {
  const webhook = await claimOrTell(_id);
  if (!webhook) return;
  const project = await loadProject(webhook.projectId);
  if (!project) return;
  if (!(await hasPlace(webhook))) {
    const dueAt = new Date(clock.now() + slowWaitSeconds * 1000);
    await release(leasedWebhooks, webhook, { $set: { dueAt } });
    await lookAt({ webhookId: _id.toHexString() }, slowWaitSeconds).catch(() => undefined);
    return;
  }
  await new WebhookRun(project, webhook).work(performance.now() + limitMs);
};

const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{24}$/));

/** A message of the queue: webhooks of a project, or one, are to be looked at. */
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

/** Does what a message of the queue says, all webhooks of it side by side; what is no message is nothing. */
export const takeWebhookMessage = async (body: string, limitMs?: number): Promise<void> => {
  const { success, output: message } = v.safeParse(schema, body);
  if (!success) return;
  const runs = (await webhooksIn(message)).map((_id) => runWebhook(_id, limitMs));
  for (const outcome of await Promise.allSettled(runs)) if (outcome.status === 'rejected') throw outcome.reason;
};

const now = (): Date => new Date(clock.now());

/** Webhooks that are due: each every few minutes, and what a message was lost of, or a run that died had. */
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
  lostAt: () => new Date(clock.now() + lookAgainMs / 5),
  limitMs: 40_000,
};

/** Has the webhooks that are due looked at; with `queueIsEmpty` every one. Returns how many. */
export const requeueWebhooks = async ({ queueIsEmpty = false } = {}): Promise<number> => {
  if (queueIsEmpty) await webhookRecords.updateMany({}, { $set: { dueAt: now(), leasedUntil: new Date(0) } });
  return requeue(dueWebhooks);
};
