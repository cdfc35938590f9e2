import type { IndexDescription, ObjectId, Timestamp } from 'mongodb';
import type { Leased } from '../persistence/lease.ts';
import { inControl } from '../persistence/mongo.ts';
import type { WebhookEvent } from './event-types.ts';

/** How far a webhook has read the changes of a collection, in a database: in another one it begins anew. */
export interface StoredPosition {
  readonly database: string;
  readonly after: Timestamp;
  readonly shown: readonly Timestamp[];
}

/** A webhook in `control.webhooks`: where events of a project are delivered, and how far that has come. */
export interface WebhookRecord {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  /** Numbers the project's webhooks, so that a unique index holds the plan's limit. */
  readonly slot: number;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Left out: every collection that has a changes feed. */
  readonly collections?: readonly string[];
  readonly enabled: boolean;
  /** Sealed to the record's id. */
  readonly sealedSecret: string;
  /** Those before it, the last one first: each signs too until then. */
  readonly replaced?: readonly { readonly sealedSecret: string; readonly until: Date }[];
  /** By the id of the collection. */
  readonly positions: Readonly<Record<string, StoredPosition>>;
  /** Changes up to `to` are told of once more, those from `from` on as if nothing had been before. */
  readonly replay?: { readonly from: Date; readonly to: Date };
  /** When the first of the failures was that no success has followed. */
  readonly failingSince?: Date;
  /** Its receiver took long to answer last: few such are worked on at once. */
  readonly isSlow?: true;
  /** Its place among the slow ones, which a run of it has taken. */
  readonly slowPlace?: number;
  /** Counts what was said while a run was at it, which then looks once more. */
  readonly nudges: number;
  /** Until then one run has it to itself. */
  readonly leasedUntil: Date;
  /** When it is looked at by the clock, whatever became of its messages. */
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

/** A webhook belongs to the run that knows its lease. */
export const leasedWebhooks: Leased<WebhookRecord> = { records: webhookRecords, lease: 'leasedUntil' };

/** One try; `status` is `null` where there was no answer. `of`: the event that was sent. */
export interface DeliveryTry {
  readonly at: Date;
  readonly status: number | null;
  readonly ms: number;
  readonly error?: string;
  readonly of: string;
}

/**
 * A row of the log in `control.webhookDeliveries`, and while it waits the job. It says what there is news of, and not
 * what: that is read when it is sent, so that a customer's data is in no second place. Of one thing one row waits.
 */
export interface DeliveryRecord {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  readonly webhookId: ObjectId;
  /** `document/<collection>/<JSON of _id>`, `user/<_id>`, `file/<path>` or `test/<id>`: one of them is one order. */
  readonly thing: string;
  /** The event that it is, or will probably be. */
  readonly type: string;
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attempts: readonly DeliveryTry[];
  /** When it is tried next; `null` once it has ended. */
  readonly nextAt: Date | null;
  /** Counts what happened to the thing: a run that delivers knows by it whether more has happened since. */
  readonly marks: number;
  /** Who may be about to write the thing, until when: what is delivered before is not the last news of it. */
  readonly ahead?: readonly { readonly by: ObjectId; readonly until: Date }[];
  /** Whether the receiver has not been told of the thing yet. */
  readonly isNew?: boolean;
  /** The event that was delivered last, of which no repeat is sent unless it is asked for. */
  readonly sent?: string;
  /** It was asked for. */
  readonly isReplay?: true;
  /** What is left to say of a user who is gone: sealed to the thing. */
  readonly lastView?: string;
  /** What is left to say of a file that is gone. */
  readonly file?: {
    readonly size: number;
    readonly contentType: string;
    readonly visibility: 'public' | 'private';
    readonly isDeleted: boolean;
    /** Where it is not what the path ends with. */
    readonly name?: string;
  };
  readonly createdAt: Date;
  /** When the latest of it happened; missing in rows of earlier versions. */
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
