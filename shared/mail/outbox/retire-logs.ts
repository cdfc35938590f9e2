import { clock } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import { onMailLogs } from '../mail-log.ts';

/** How long the log of a mail is kept. */
const keptMs = 90 * 24 * 3600_000;

const perStep = 1000;

/** Within the five minutes that its job has, and before the next run begins. */
const longestRunMs = 3 * 60_000;

const removeOldest = (before: Date): Promise<number> =>
  onMailLogs(async (logs) => {
    const old = await logs
      .find(
        { createdAt: { $lt: before } },
        { projection: { _id: 1 }, sort: { createdAt: 1 }, limit: perStep, maxTimeMS: 5000 },
      )
      .toArray();
    if (old.length === 0) return 0;
    await logs.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
    return old.length;
  });

/**
 * Removes logs of mails accepted more than 90 days ago, the oldest first, until there are none or 3 minutes have
 * passed. Returns how many.
 */
export const retireLogs = async (): Promise<number> => {
  const begun = clock.now();
  const before = new Date(begun - keptMs);
  let removed = 0;
  let found: number;
  do {
    found = await removeOldest(before);
    removed += found;
  } while (found === perStep && clock.now() - begun < longestRunMs);
  if (removed > 0) log.info({ job: 'requeue-mail', retired: removed });
  return removed;
};
