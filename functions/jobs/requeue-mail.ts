import { requeueMail, retireLogs } from '../../shared/mail/queue.ts';

/** Runs on a schedule: puts mails back on the queue that it has lost, and removes logs that are old enough. */
export const handler = async (): Promise<{ readonly queued: number; readonly retired: number }> => ({
  queued: await requeueMail(),
  retired: await retireLogs(),
});
