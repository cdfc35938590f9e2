import { setBounded } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { onManaged } from '../persistence/mongo.ts';
import { plans } from './plans.ts';
import type { Project } from './project.ts';

/** Maximum age of a measurement for accepting a write: the documented slack of the quota. */
const maxAgeMs = 10_000;
/** Maximum age for rejecting a write, so that deleting documents makes room immediately. */
const refusalAgeMs = 1000;
const maxProjects = 2000;

/** Limit of index bytes relative to the plan's document bytes: an index over an array has an entry per element. */
const indexesPerData = 4;

interface Sizes {
  readonly documents: number;
  readonly indexes: number;
}

interface Measurement {
  readonly startedAt: number;
  readonly sizes: Promise<Sizes>;
  /** Bytes that this process has accepted since the measurement. */
  written: number;
}

const measurements = new Map<string, Measurement>();

const measure = async (project: Project): Promise<Sizes> => {
  const stats = await onManaged(project, (db) => db.command({ dbStats: 1, maxTimeMS: 5000 }));
  return { documents: Number(stats.dataSize), indexes: Number(stats.indexSize) };
};

/**
 * Document bytes in our database (`dbStats.dataSize`). For a project with a customer's database: users and leftovers.
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
 * True if our database has room for `bytes` more. Measures at most every 10 s; every second while the project is full.
 */
export const hasManagedRoom = async (project: Project, bytes: number): Promise<boolean> => {
  const limit = plans[project.plan].databaseBytes;
  return (
    (await claim(measured(project, maxAgeMs), bytes, limit)) ||
    (await claim(measured(project, refusalAgeMs), bytes, limit))
  );
};

export const hasDatabaseRoom = async (project: Project, bytes: number): Promise<boolean> =>
  project.placement.kind === 'external' || (await hasManagedRoom(project, bytes));

/** Throws 403 `DATABASE_QUOTA_EXCEEDED` if our database has no room. */
export const requireManagedRoom = async (project: Project, bytes: number): Promise<void> => {
  if (!(await hasManagedRoom(project, bytes))) throw databaseFull(project);
};

export const requireDatabaseRoom = async (project: Project, bytes: number): Promise<void> => {
  if (!(await hasDatabaseRoom(project, bytes))) throw databaseFull(project);
};

/** For tests. */
export const forgetDatabaseUse = (): void => measurements.clear();
