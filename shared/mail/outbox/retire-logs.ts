import { clock, dayMs } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import { type PageJob, workThroughPages } from '../../work/page-job.ts';
import { type MailLog, mailLogs } from '../mail-log.ts';

/** How long the log of a mail is kept. */
const keptMs = 90 * dayMs;

/** Logs that are old enough to go; the time is within the five minutes of the job, and before its next run begins. */
const oldLogs: PageJob<MailLog> = {
  records: mailLogs,
  dueAt: 'createdAt',
  due: () => ({ createdAt: { $lt: new Date(clock.now() - keptMs) } }),
  projection: { _id: 1 },
  page: 1000,
  step: async (logs) => {
    await mailLogs.deleteMany({ _id: { $in: logs.map(({ _id }) => _id) } });
    return logs.length;
  },
  limitMs: 3 * 60_000,
};

/** Removes logs of mails accepted more than 90 days ago; returns how many. */
export const retireLogs = async (): Promise<number> => {
  const retired = await workThroughPages(oldLogs);
  if (retired > 0) log.info({ job: 'requeue-mail', retired });
  return retired;
};
