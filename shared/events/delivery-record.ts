import type { IndexDescription, ObjectId } from 'mongodb';
import { inControl } from '../clients/mongo.ts';

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
  };
  readonly createdAt: Date;
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
