import type { QueueName } from '../../functions/jobs/jobs.ts';
import { mailTries, mailVisibilitySeconds } from '../../shared/mail/queue.ts';
import { workTries, workVisibilitySeconds } from '../../shared/persistence/work-queue.ts';

export interface QueueLimits {
  /** How often a message is handed out before it goes to the dead-letter queue. */
  readonly tries: number;
  /** How long a message is kept back once it has been handed out. */
  readonly visibilitySeconds: number;
}

/** Queue → what it promises, deployed and locally. */
export const queueLimits: Readonly<Record<QueueName, QueueLimits>> = {
  mail: { tries: mailTries, visibilitySeconds: mailVisibilitySeconds },
  // A message says that there may be something to do, which the clock finds without it.
  webhooks: { tries: 3, visibilitySeconds: 90 },
  work: { tries: workTries, visibilitySeconds: workVisibilitySeconds },
};
