import { clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Project } from '../projects/project.ts';
import type { Collection } from './collection.ts';
import type { CollectionRecord } from './collection-record.ts';
import { type CollectionSummary, summarize } from './collection-summary.ts';
import { onCollections, requireRecord } from './control-collections.ts';
import { parseCollection } from './create-collection.ts';
import { managedIndexes } from './indexes.ts';
import type { RowSecurityInput } from './row-security-rules.ts';
import { refuseConflicts, schemaConflict } from './schema-conflicts.ts';
import { buildIndexes, dropObsoleteIndexes } from './sync-indexes.ts';

/** What is left out stays as it is. */
export interface CollectionChanges {
  readonly name?: string | undefined;
  readonly schema?: unknown;
  readonly rls?: RowSecurityInput | null | undefined;
  readonly force?: boolean | undefined;
}

/** Builds what is missing; a value that came in twice meanwhile refuses the edit. */
const build = async (project: Project, collection: Collection): Promise<void> => {
  try {
    await buildIndexes(project, collection.name, managedIndexes(collection));
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'DUPLICATE_VALUE')) throw error;
    const errors = (error.errors ?? []).map(({ field }) => ({ field, message: `${field} must be unique` }));
    throw schemaConflict('Two documents share a value that is to be unique. Change one of them first.', errors, error);
  }
};

/** The edit takes effect only on the record it was checked against. */
const save = async (before: CollectionRecord, now: Collection): Promise<CollectionRecord> => {
  const updatedAt = new Date(Math.max(clock.now(), before.updatedAt.getTime() + 1));
  const saved = await onCollections((collections) =>
    collections.findOneAndUpdate(
      { _id: before._id, state: 'active', updatedAt: before.updatedAt },
      { $set: { schema: now.schema, rls: now.rls, updatedAt } },
      { returnDocument: 'after' },
    ),
  );
  if (!saved) throw schemaConflict('The collection was changed by someone else at the same time. Please try again.');
  return saved;
};

/** Leaves the indexes as the record now has them, whoever wrote it last. */
const tidy = async (project: Project, name: string): Promise<void> => {
  const current = await requireRecord(project, name);
  await build(project, current);
  await dropObsoleteIndexes(project, name, managedIndexes(current));
};

/**
 * Edits schema and row security of a collection; its documents stay as they are. What active documents would break is refused
 * with 409 `SCHEMA_CONFLICT` unless `force`; unique indexes are built before the answer, and the edit is refused where one
 * cannot be. Unknown → 404.
 */
export const updateCollection = async (
  project: Project,
  name: string,
  { name: sameName = name, schema, rls, force = false }: CollectionChanges,
): Promise<CollectionSummary> => {
  const before = await requireRecord(project, name);
  if (sameName !== name) throw new AppError('INVALID_NAME', 'A collection cannot be renamed.');
  const now = parseCollection(name, {
    schema: schema === undefined ? before.schema : schema,
    rls: rls === undefined ? before.rls : rls,
  });
  await refuseConflicts(project, name, now.schema, before.schema, force);
  try {
    await build(project, now);
    const saved = await save(before, now);
    await tidy(project, name);
    return await summarize(project, saved);
  } catch (error) {
    if (error instanceof AppError && error.code === 'SCHEMA_CONFLICT') await tidy(project, name).catch(() => undefined);
    throw error;
  }
};
