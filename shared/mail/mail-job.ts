import type { Collection, IndexDescription, ObjectId } from 'mongodb';
import { onControl } from '../clients/mongo.ts';

export type BuiltInTemplate = 'verification' | 'password-reset';

/** One mail on its way, in `control.mailJobs`. The queue's message carries its id only. */
export interface MailJob {
  readonly _id: ObjectId;
  /** `null` for mails of the service itself. */
  readonly projectId: ObjectId | null;
  readonly template: BuiltInTemplate;
  readonly to: string;
  /** Who the mail says it is from. */
  readonly siteName: string;
  /** The template's variables as JSON, sealed with the job's id; gone once the mail is sent or given up. */
  readonly variables?: string;
  /** `nobody`: never sent, made only because others would take as long. */
  readonly state: 'queued' | 'sent' | 'failed' | 'nobody';
  /** Until then one run of the delivery has the job to itself. */
  readonly leasedUntil: Date;
  /** When the queue is thought to have lost the job. */
  readonly lostAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The provider's id of the mail. */
  readonly providerId?: string;
  /** Why it failed, or the last try did. */
  readonly failure?: string;
}

export const mailJobIndexes: readonly IndexDescription[] = [
  { key: { lostAt: 1 }, name: 'lost', partialFilterExpression: { state: 'queued' } },
  { key: { projectId: 1 }, name: 'project' },
];

/** Runs an operation on `control.mailJobs`. */
export const onMailJobs = <T>(operation: (jobs: Collection<MailJob>) => Promise<T>): Promise<T> =>
  onControl((db) => operation(db.collection<MailJob>('mailJobs')));
