import { clock } from '../clock.ts';
import { log } from '../log.ts';
import { onMailLogs } from './mail-log.ts';

/** How long the log of a mail is kept. */
const keptMs = 90 * 24 * 3600_000;

const perRun = 1000;

/** Removes logs of mails accepted more than 90 days ago, at most 1000 a run, the oldest first. Answers how many. */
export const retireLogs = async (): Promise<number> => {
  const before = new Date(clock.now() - keptMs);
  const removed = await onMailLogs(async (logs) => {
    const old = await logs
      .find(
        { createdAt: { $lt: before } },
        { projection: { _id: 1 }, sort: { createdAt: 1 }, limit: perRun, maxTimeMS: 5000 },
      )
      .toArray();
    if (old.length === 0) return 0;
    return (await logs.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } })).deletedCount;
  });
  if (removed > 0) log.info({ job: 'requeue-mail', retired: removed });
  return removed;
};
