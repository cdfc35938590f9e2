import { clock } from '../../core/clock.ts';
import { AppError, statusOf } from '../../core/errors.ts';
import { projectSaved } from '../../core/saved-projects.ts';
import type { Project } from '../../projects/project.ts';
import { takeOver } from '../../work/lease.ts';
import type { Collection } from '../collection.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { summarize } from '../collection-summary.ts';
import { leasedCollections, requireRecord } from '../control-collections.ts';
import { buildConstraints } from '../indexes/apply-indexes.ts';
import { outOfTime } from '../indexes/prepare-database.ts';
import { changedFeed } from '../schema/feed-rules.ts';
import { changedRowSecurity, type RowSecurityChanges } from '../schema/row-security-rules.ts';
import { refuseConflicts, schemaConflict } from '../schema/schema-conflicts.ts';
import { schemaError } from '../schema/schema-error.ts';
import { searchableFields } from '../schema/search-rules.ts';
import { type CollectionInput, parseCollection } from './create-collection.ts';
import { beginEdit, finishEdit } from './tidy-edited.ts';

/** All of an edit: API Gateway waits 30 s. What is under way in the database by then goes on, and is tidied later. */
const limitMs = 25_000;

/** What is left out stays as it is, parts of `rls` too. */
interface CollectionChanges extends Partial<Omit<CollectionInput, 'rls'>> {
  readonly name?: string | undefined;
  readonly rls?: RowSecurityChanges | null | undefined;
  readonly force?: boolean | undefined;
}

/** The edit takes effect only on the record it was checked against. */
const save = async (before: CollectionRecord, now: Collection): Promise<CollectionRecord> => {
  const updatedAt = new Date(Math.max(clock.now(), before.updatedAt.getTime() + 1));
  const { schema, rls, searchLanguage, feed = null } = now;
  const changes = { schema, rls, feed, ...(searchLanguage && { searchLanguage }), updatedAt };
  const saved = await takeOver(leasedCollections, before, { $set: changes });
  if (!saved) throw schemaConflict('The collection was changed by someone else at the same time. Please try again.');
  return saved;
};

/** MongoDB has one text index a collection. */
const requireRoomForSearch = (now: Collection, { indexes = [] }: CollectionRecord): void => {
  const own = indexes.find(({ keys }) => keys.some(([, kind]) => kind === 'text'));
  const [searchable] = searchableFields(now);
  if (!own || !searchable) return;
  throw schemaError(
    searchable.key,
    `is searchable, which needs the one text index that a collection can have. Delete your index "${own.name}" first`,
  );
};

/**
 * An index for searches may take longer than a request: what is left of the edit is then done as if it was cut short.
 */
const inBackground =
  (now: Collection) =>
  (error: unknown): void => {
    const mayWait = searchableFields(now).length > 0 && error instanceof AppError && statusOf[error.code] === 503;
    if (!mayWait) throw error;
  };

/**
 * Edits schema and row security of a collection; its documents stay as they are. What active documents would break is
 * refused with 409 `SCHEMA_CONFLICT` unless `force`; unique indexes are built before the answer, and the edit is
 * refused where one cannot be. What an edit leaves that is cut short, or not done within 25 s (503), is tidied by the
 * clean-up job. Unknown → 404.
 */
export const updateCollection = async (
  project: Project,
  name: string,
  { name: sameName = name, schema, rls, searchLanguage, changes, force = false }: CollectionChanges,
) => {
  const end = clock.now() + limitMs;
  const leftMs = (): number => {
    const left = end - clock.now();
    if (left < 100) throw outOfTime(project);
    return left;
  };
  const before = await requireRecord(project, name);
  if (sameName !== name) throw new AppError('INVALID_NAME', 'A collection cannot be renamed.');
  const now = parseCollection(
    name,
    {
      schema: schema === undefined ? before.schema : schema,
      rls: changedRowSecurity(before.rls, rls),
      searchLanguage: searchLanguage ?? before.searchLanguage,
    },
    changedFeed(before.feed ?? null, changes),
  );
  requireRoomForSearch(now, before);
  await refuseConflicts(project, now, before.schema, force);
  const mark = await beginEdit(project, name);
  const tidy = () => finishEdit(project, name, mark, leftMs);
  try {
    await buildConstraints(project, now, leftMs());
    const saved = await save(before, now);
    projectSaved(project.id);
    await tidy().catch(inBackground(now));
    return await summarize(project, saved);
  } catch (error) {
    if (error instanceof AppError && error.code === 'SCHEMA_CONFLICT') await tidy().catch(() => undefined);
    throw error;
  }
};
