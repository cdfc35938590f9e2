import { setBounded } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { onManaged } from '../persistence/mongo.ts';
import { plans } from './plans.ts';
import type { Project } from './project.ts';

/** How old a measurement may be where a write is checked: the documented slack of the quota. */
const maxAgeMs = 10_000;
/** A write is refused only by a measurement this fresh, so that deleting documents makes room at once. */
const refusalAgeMs = 1000;
const maxProjects = 2000;

/**
 * Indexes are not counted as documents are, but may not take more than so many times what the plan allows of these: one
 * of several fields has all of them once for each element of an array.
 */
const indexesPerData = 4;

/** What a project has in our database, in bytes. */
interface Sizes {
  readonly documents: number;
  readonly indexes: number;
}

interface Measurement {
  readonly startedAt: number;
  readonly sizes: Promise<Sizes>;
  /** Bytes this process has let through since then. */
  written: number;
}

const measurements = new Map<string, Measurement>();

const measure = async (project: Project): Promise<Sizes> => {
  const stats = await onManaged(project, (db) => db.command({ dbStats: 1, maxTimeMS: 5000 }));
  return { documents: Number(stats.dataSize), indexes: Number(stats.indexSize) };
};

/**
 * Bytes of documents that a project keeps in our database, as the database itself reports them (`dbStats.dataSize`).
 * Where the project has a database of its own that is its users, and what it left behind.
 */
export const databaseUsed = async (project: Project): Promise<number> => (await measure(project)).documents;

const measured = (project: Project, ageMs: number): Measurement => {
  const now = clock.now();
  const known = measurements.get(project.id);
  if (known && now - known.startedAt < ageMs) return known;
  const made: Measurement = { startedAt: now, sizes: measure(project), written: 0 };
  setBounded(measurements, project.id, made, maxProjects);
  made.sizes.catch(() => {
    if (measurements.get(project.id) === made) measurements.delete(project.id);
  });
  return made;
};

const claim = async (measurement: Measurement, bytes: number, limit: number): Promise<boolean> => {
  const { documents, indexes } = await measurement.sizes;
  if (documents + measurement.written + bytes > limit || indexes > indexesPerData * limit) return false;
  measurement.written += bytes;
  return true;
};

export const databaseFull = ({ plan }: Project): AppError => {
  const mebibytes = Math.round(plans[plan].databaseBytes / (1024 * 1024));
  return new AppError(
    'DATABASE_QUOTA_EXCEEDED',
    `The database of this project is full: its plan allows ${mebibytes} MiB of documents, and indexes of ${indexesPerData} times as much. Delete documents permanently, drop indexes, or change the plan.`,
  );
};

/**
 * Whether our database has room for `bytes` more under the plan. Measures a project at most every 10 s, while it is
 * full at most every second. Contract 2, "Database quota".
 */
export const hasManagedRoom = async (project: Project, bytes: number): Promise<boolean> => {
  const limit = plans[project.plan].databaseBytes;
  return (
    (await claim(measured(project, maxAgeMs), bytes, limit)) ||
    (await claim(measured(project, refusalAgeMs), bytes, limit))
  );
};

/** The same for documents: in a project's own database they have all the room that it has. */
export const hasDatabaseRoom = async (project: Project, bytes: number): Promise<boolean> =>
  project.placement.kind === 'external' || (await hasManagedRoom(project, bytes));

/** Refuses a write of `bytes` more that our database has no room for: 403 `DATABASE_QUOTA_EXCEEDED`. */
export const requireManagedRoom = async (project: Project, bytes: number): Promise<void> => {
  if (!(await hasManagedRoom(project, bytes))) throw databaseFull(project);
};

export const requireDatabaseRoom = async (project: Project, bytes: number): Promise<void> => {
  if (!(await hasDatabaseRoom(project, bytes))) throw databaseFull(project);
};

/** Forgets every measurement of this process; for tests that fill a database and do not want to wait. */
export const forgetDatabaseUse = (): void => measurements.clear();
