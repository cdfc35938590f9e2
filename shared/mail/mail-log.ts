import type { IndexDescription, ObjectId } from 'mongodb';
import { inControl } from '../clients/mongo.ts';

/** Where a mail stands (contract 5, "Webhook"). */
export type MailStatus = 'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed';

/** What is still to be done about a mail; gone once the provider has it, or it has failed. */
export interface MailJob {
  /** What is to be sent, as JSON, sealed with the log's id; missing where only the provider's word is awaited. */
  readonly content?: string;
  /** The month, `yyyy-mm`, whose quota the mail has a slot of; missing where it needs none. */
  readonly slot?: string;
  /** What a mail of the shared key took beyond its project, of which it may give back. */
  readonly shared?: { readonly owner: string; readonly recipients: number; readonly day?: string };
  /** A run handed the mail over, or was about to, and has not learned what became of it: the provider may have it. */
  readonly inDoubt?: boolean;
  /** Until then one run of the delivery has the job to itself. */
  readonly leasedUntil: Date;
  /** When the queue is thought to have lost the job. */
  readonly lostAt: Date;
  /** Id of the request that asked for the mail, for the log. */
  readonly requestId?: string;
}

/** One mail in `control.mailLogs`: the row of the log and, while something is to be done about it, the job. */
export interface MailLog {
  /** Also the job's id: the body of the queue's message, the provider's idempotency key and the value of `mailTag`. */
  readonly _id: ObjectId;
  /** `null` for mails of the service itself, and for those to nobody. */
  readonly projectId: ObjectId | null;
  readonly to: readonly string[];
  readonly subject: string;
  /** `nobody`: never sent, made only because others would take as long. */
  readonly status: MailStatus | 'nobody';
  /** Whether the project's own provider key sends it; decided when the mail is accepted. */
  readonly usingByok: boolean;
  readonly templateUsed: string | null;
  /** When the provider accepted the mail; until then when we did. */
  readonly sentAt: Date;
  readonly providerEmailId?: string;
  /** The provider's own time of the last event that was applied; a mail with one is the provider's already. */
  readonly lastEventAt?: Date;
  /** How much that event says (`rankOf`). */
  readonly eventRank?: number;
  /** Ids of the provider's events about it that came in, the latest of them. */
  readonly eventIds?: readonly string[];
  /** Why it failed, bounced, or the last try did: text for people, or `suppressed`. */
  readonly reason?: string;
  readonly job?: MailJob;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Name of the tag that carries the log's id to the provider and back in its events. */
export const mailTag = 'basalt_mail';

export const mailLogIndexes: readonly IndexDescription[] = [
  { key: { 'job.lostAt': 1 }, name: 'lost', partialFilterExpression: { 'job.lostAt': { $exists: true } } },
  { key: { projectId: 1, sentAt: -1, _id: -1 }, name: 'latest' },
  { key: { providerEmailId: 1 }, name: 'provider', partialFilterExpression: { providerEmailId: { $exists: true } } },
  { key: { createdAt: 1 }, name: 'age' },
];

export const mailLogs = inControl<MailLog>('mailLogs');
