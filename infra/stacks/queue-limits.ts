import type { QueueName } from '../../functions/jobs/jobs.ts';
import { mailTries, mailVisibilitySeconds } from '../../shared/mail/queue.ts';
import { workTries, workVisibilitySeconds } from '../../shared/persistence/work-queue.ts';

export interface QueueLimits {
  /** Delivery attempts before a message goes to the dead-letter queue. */
  readonly tries: number;
  /** How long a delivered message is invisible. */
  readonly visibilitySeconds: number;
}

/** Limits of the queues, deployed and locally. */
export const queueLimits: Readonly<Record<QueueName, QueueLimits>> = {
  mail: { tries: mailTries, visibilitySeconds: mailVisibilitySeconds },
  // Messages are only hints; the schedule finds the work without them.
  webhooks: { tries: 3, visibilitySeconds: 90 },
  work: { tries: workTries, visibilitySeconds: workVisibilitySeconds },
};
