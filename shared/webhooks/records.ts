import type { IndexDescription, ObjectId, Timestamp } from 'mongodb';
import type { Leased } from '../persistence/lease.ts';
import { inControl } from '../persistence/mongo.ts';
import type { WebhookEvent } from './event-types.ts';

/** How far a webhook has read a collection's feed; valid in one database. */
export interface StoredPosition {
  readonly database: string;
  readonly after: Timestamp;
  readonly shown: readonly Timestamp[];
}

/** In `control.webhooks`. */
export interface WebhookRecord {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  /** Numbers the project's webhooks to enforce the plan's limit. */
  readonly slot: number;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Absent: all with a changes feed. */
  readonly collections?: readonly string[];
  readonly enabled: boolean;
  readonly sealedSecret: string;
  /** Earlier secrets, newest first; each also signs until then. */
  readonly replaced?: readonly { readonly sealedSecret: string; readonly until: Date }[];
  readonly positions: Readonly<Record<string, StoredPosition>>;
  /** Sends changes up to `to` again, those from `from` on as if nothing had been sent. */
  readonly replay?: { readonly from: Date; readonly to: Date };
  /** The first failure since the last success. */
  readonly failingSince?: Date;
  /** The receiver was slow; few slow ones are processed at the same time. */
  readonly isSlow?: true;
  /** Its place among the running slow ones. */
  readonly slowPlace?: number;
  /** Counts wake-ups during a run, which then checks again. */
  readonly nudges: number;
  readonly leasedUntil: Date;
  /** When the schedule checks it, whatever happened to its messages. */
  readonly dueAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const webhookIndexes: readonly IndexDescription[] = [
  { key: { projectId: 1, slot: 1 }, name: 'slot', unique: true },
  { key: { dueAt: 1 }, name: 'due' },
  {
    key: { slowPlace: 1 },
    name: 'slowPlace',
    unique: true,
    partialFilterExpression: { slowPlace: { $exists: true } },
  },
];

export const webhookRecords = inControl<WebhookRecord>('webhooks');

export const leasedWebhooks: Leased<WebhookRecord> = { records: webhookRecords, lease: 'leasedUntil' };

/** `status` is `null` without a response. `of`: the event sent. */
export interface DeliveryTry {
  readonly at: Date;
  readonly status: number | null;
  readonly ms: number;
  readonly error?: string;
  readonly of: string;
}

/**
 * A log entry in `control.webhookDeliveries`, and the job while it is pending. It names the resource, not its data,
 * which is read when it is sent. A resource has at most one pending entry.
 */
export interface DeliveryRecord {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  readonly webhookId: ObjectId;
  /**
   * `document/<collection>/<JSON of _id>`, `user/<_id>`, `file/<path>` or `test/<id>`. Events of one resource are sent
   * in order.
   */
  readonly thing: string;
  /** The probable event type; final when sent. */
  readonly type: string;
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attempts: readonly DeliveryTry[];
  /** The next attempt; `null` if ended. */
  readonly nextAt: Date | null;
  /** Counts changes of the resource, so that a run notices newer ones. */
  readonly marks: number;
  /** Writes in progress and their deadlines: an event delivered before may not be the last. */
  readonly ahead?: readonly { readonly by: ObjectId; readonly until: Date }[];
  /** True if the receiver has not heard of the resource. */
  readonly isNew?: boolean;
  /** The last event delivered; not repeated unless requested. */
  readonly sent?: string;
  readonly isReplay?: true;
  /** The last view of a deleted user, sealed to the resource. */
  readonly lastView?: string;
  /** The last view of a deleted file. */
  readonly file?: {
    readonly size: number;
    readonly contentType: string;
    readonly visibility: 'public' | 'private';
    readonly isDeleted: boolean;
    /** Absent: the last part of the path. */
    readonly name?: string;
  };
  readonly createdAt: Date;
  /** Time of the latest change; absent in entries of earlier versions. */
  readonly at?: Date;
}

const keptSeconds = 30 * 86_400;

export const deliveryIndexes: readonly IndexDescription[] = [
  {
    key: { webhookId: 1, thing: 1 },
    name: 'waiting',
    unique: true,
    partialFilterExpression: { state: 'waiting' },
  },
  { key: { webhookId: 1, nextAt: 1 }, name: 'due', partialFilterExpression: { state: 'waiting' } },
  { key: { webhookId: 1, thing: 1, _id: -1 }, name: 'thing' },
  { key: { webhookId: 1, _id: -1 }, name: 'newest' },
  { key: { projectId: 1 }, name: 'project' },
  { key: { createdAt: 1 }, name: 'age', expireAfterSeconds: keptSeconds },
];

export const deliveryRecords = inControl<DeliveryRecord>('webhookDeliveries');
