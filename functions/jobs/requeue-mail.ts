import { deleteOldLogs, requeueMail } from '../../shared/mail/queue.ts';

export const handler = async (): Promise<{ readonly queued: number; readonly retired: number }> => ({
  queued: await requeueMail(),
  retired: await deleteOldLogs(),
});
