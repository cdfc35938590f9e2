import { requeueMail } from '../../shared/mail/outbox/requeue-mail.ts';
import { retireLogs } from '../../shared/mail/outbox/retire-logs.ts';

/** Runs on a schedule: puts mails back on the queue that it has lost, and removes logs that are old enough. */
export const handler = async (): Promise<{ readonly queued: number; readonly retired: number }> => ({
  queued: await requeueMail(),
  retired: await retireLogs(),
});
