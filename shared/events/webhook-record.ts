import type { IndexDescription, ObjectId, Timestamp } from 'mongodb';
import { inControl } from '../clients/mongo.ts';
import type { Leased } from '../work/lease.ts';
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
