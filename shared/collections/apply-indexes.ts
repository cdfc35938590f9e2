import { AppError } from '../errors.ts';
import type { Project } from '../projects/project.ts';
import type { Collection } from './collection.ts';
import { toCollection } from './collection-record.ts';
import { requireRecord } from './control-collections.ts';
import { managedIndexes } from './indexes.ts';
import { schemaConflict } from './schema-conflicts.ts';
import { buildIndexes, dropObsoleteIndexes } from './sync-indexes.ts';

/** Builds what is missing; a value that came in twice meanwhile → 409 `SCHEMA_CONFLICT`. */
export const buildFor = async (project: Project, collection: Collection): Promise<void> => {
  try {
    await buildIndexes(project, collection.name, managedIndexes(collection));
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'DUPLICATE_VALUE')) throw error;
    const errors = (error.errors ?? []).map(({ field }) => ({ field, message: `${field} must be unique` }));
    throw schemaConflict('Two documents share a value that is to be unique. Change one of them first.', errors, error);
  }
};

/** Leaves the indexes as the record now has them, whoever wrote it last. */
export const tidyIndexes = async (project: Project, name: string): Promise<void> => {
  const current = toCollection(await requireRecord(project, name));
  await buildFor(project, current);
  await dropObsoleteIndexes(project, name, managedIndexes(current));
};
