import { AppError, isClientError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import { inLanes } from '../../work/job.ts';
import { activeRecords } from '../control-collections.ts';
import { usersCollection } from '../schema/collection-name.ts';
import { wantedIndexes } from './apply-indexes.ts';
import { buildIndexes } from './sync-indexes.ts';

/** A collection that a database could not be made ready for. */
export interface Unprepared {
  readonly collection: string;
  readonly error: AppError;
}

/** Collections prepared side by side: as many as a customer's database gets connections. */
const workers = 2;

/** The refusal where the time of a request is over before all indexes are built: 503, to be sent again. */
export const outOfTime = ({ placement }: Project): AppError =>
  new AppError(
    placement.kind === 'managed' ? 'SERVICE_UNAVAILABLE' : 'OWN_DATABASE_UNAVAILABLE',
    'The indexes of the collections are still being built in that database. Send this again in a minute; what is built stays.',
    { retryAfter: 60 },
  );

/**
 * Makes the database that a project is placed in ready for its collections: builds what indexes they lack there, those
 * of the developer's own too. Returns the collections whose documents there do not allow it. `users` stay where they
 * are. May be repeated; not done within `limitMs` → 503 `SERVICE_UNAVAILABLE`, of an
 * own database `OWN_DATABASE_UNAVAILABLE`.
 */
export const prepareDatabase = async (project: Project, limitMs: number): Promise<readonly Unprepared[]> => {
  const waiting = (await activeRecords(project, { sort: { slot: 1 } })).filter(({ name }) => name !== usersCollection);
  const end = performance.now() + limitMs;
  const unprepared: Unprepared[] = [];
  await inLanes(waiting, workers, async (record) => {
    const leftMs = end - performance.now();
    if (leftMs < 100) throw outOfTime(project);
    try {
      await buildIndexes(project, record.name, wantedIndexes(record), leftMs);
    } catch (error) {
      if (performance.now() >= end) throw outOfTime(project);
      if (!isClientError(error)) throw error;
      unprepared.push({ collection: record.name, error });
    }
  });
  return unprepared;
};
