import type { IndexDescription } from 'mongodb';
import { unlessTaken } from '../../core/until-written.ts';
import type { Project } from '../../projects/project.ts';
import type { Collection } from '../collection.ts';
import { type CollectionRecord, toCollection } from '../collection-record.ts';
import { requireRecord } from '../control-collections.ts';
import { schemaConflict } from '../schema/schema-conflicts.ts';
import { managedIndexes } from './indexes.ts';
import { namesOf, toIndexDescription } from './own-index.ts';
import { buildIndexes, dropObsoleteIndexes } from './sync-indexes.ts';

const ownOf = ({ indexes = [] }: CollectionRecord) => indexes.filter(({ ready }) => ready);

/** Every index that a collection should have: the service's own, and those of the developer's that are built. */
export const wantedIndexes = (record: CollectionRecord): readonly IndexDescription[] => [
  ...managedIndexes(toCollection(record)),
  ...ownOf(record).map((index) => toIndexDescription(index, record)),
];

/** Names under which the developer's own indexes may still be built from before row security was switched. */
export const formerNames = (record: CollectionRecord): readonly string[] => {
  const wanted = new Set(wantedIndexes(record).map(({ name }) => name));
  return ownOf(record)
    .flatMap(({ name }) => namesOf(name))
    .filter((name) => !wanted.has(name));
};

const build = (
  project: Project,
  name: string,
  wanted: readonly IndexDescription[],
  limitMs: number | undefined,
): Promise<void> =>
  unlessTaken(buildIndexes(project, name, wanted, limitMs), (error) => {
    const errors = (error.errors ?? []).map(({ field }) => ({ field, message: `${field} must be unique` }));
    throw schemaConflict('Two documents share a value that is to be unique. Change one of them first.', errors, error);
  });

/** Builds unique indexes, which must hold before an edit does. A value that came in twice → 409 `SCHEMA_CONFLICT`. */
export const buildConstraints = (project: Project, collection: Collection, limitMs: number): Promise<void> =>
  build(
    project,
    collection.name,
    managedIndexes(collection).filter(({ unique }) => unique),
    limitMs,
  );

/**
 * Leaves the indexes as the record now has them, whoever wrote it last. Drops first: with all that row security
 * exchanges there would be more than the 64 that a collection may have. Returns that record. `leftMs` says at each step
 * how long it may take, or throws.
 */
export const tidyIndexes = async (project: Project, name: string, leftMs?: () => number): Promise<CollectionRecord> => {
  const current = await requireRecord(project, name);
  const wanted = wantedIndexes(current);
  await dropObsoleteIndexes(project, name, wanted, formerNames(current), leftMs?.());
  await build(project, name, wanted, leftMs?.());
  return current;
};
