import { ObjectId } from 'mongodb';
import { projectSaved } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { AppError, statusOf } from '../core/errors.ts';
import { log } from '../core/log.ts';
import { type RecordJob, workThroughRecords } from '../persistence/jobs.ts';
import { claimStale, reschedule } from '../persistence/lease.ts';
import { loadProject } from '../projects/find-project.ts';
import type { Project } from '../projects/project.ts';
import type { Collection } from './collection.ts';
import {
  activeIn,
  type CollectionRecord,
  collectionRecords,
  leasedCollections,
  requireRecord,
  toCollection,
} from './collection-record.ts';
import { type CollectionInput, noteReferences, parseCollection } from './create-collection.ts';
import { hasDueWork } from './effects/effect.ts';
import { summarize } from './find-collections.ts';
import { buildConstraints, outOfTime, tidyIndexes } from './indexes/build.ts';
import { dropIndex } from './indexes/custom-indexes.ts';
import { schemaError } from './names.ts';
import { checkRules } from './rules/check-rules.ts';
import { searchableFields } from './schema/field-types.ts';
import { withRequired } from './schema/partition.ts';
import { changedFeed, changedRowSecurity, type RowSecurityChanges } from './schema/row-security.ts';
import { refuseConflicts, schemaConflict } from './schema/schema-changes.ts';

/** Longer than an edit takes, including commands still running in the database. */
const quietMs = 2 * 60_000;

/** Marks the record before the first step: its indexes may differ from now on. Returns the mark. */
const beginEdit = async (project: Project, name: string): Promise<Date> => {
  const editingSince = new Date(clock.now());
  await collectionRecords.updateOne({ ...activeIn(project), name: { $eq: name } }, { $set: { editingSince } });
  return editingSince;
};

/**
 * Makes the indexes match the record and removes the mark, unless another edit has started. Indexes that the developer
 * deleted meanwhile are dropped again.
 */
const finishEdit = async (project: Project, name: string, editingSince: Date, leftMs?: () => number): Promise<void> => {
  const { indexes: built = [] } = await tidyIndexes(project, name, leftMs);
  const now = await collectionRecords.findOneAndUpdate(
    { projectId: new ObjectId(project.id), name: { $eq: name }, editingSince },
    { $unset: { editingSince: '' } },
    { returnDocument: 'after' },
  );
  const left = new Set(now?.indexes?.map((index) => index.name));
  const deleted = now ? built.filter((index) => index.ready && !left.has(index.name)) : [];
  for (const index of deleted) await dropIndex(project, name, index.name);
};

const tidy = async (record: CollectionRecord): Promise<boolean> => {
  const { projectId, name, editingSince } = record;
  const project = await loadProject(projectId);
  if (!project || !editingSince) {
    await reschedule(editedCollections, record);
    return false;
  }
  await finishEdit(project, name, editingSince);
  log.info({ job: 'remove-projects', project: project.id, collection: name, was: 'edited' });
  return true;
};

/** One that starts this late still ends within the job's time. */
const editedCollections: RecordJob<CollectionRecord> = {
  name: 'remove-projects',
  what: 'collection',
  records: collectionRecords,
  lease: 'editingSince',
  open: () => ({ state: 'active' }),
  quietMs,
  page: 50,
  step: tidy,
  concurrency: 1,
  limitMs: 20_000,
};

/** Repairs indexes after interrupted edits. Returns the number of collections. */
export const tidyEditedCollections = async (): Promise<number> => (await workThroughRecords(editedCollections)).done;

/** The whole edit; API Gateway waits 30 s. Commands still running in the database are repaired later. */
const limitMs = 25_000;

/** Omitted options stay, also within `rls`. */
interface CollectionChanges extends Partial<Omit<CollectionInput, 'rls'>> {
  readonly name?: string | undefined;
  readonly rls?: RowSecurityChanges | null | undefined;
  readonly force?: boolean | undefined;
}

/** Saves only if the record is still the one that was checked. */
const save = async (before: CollectionRecord, now: Collection): Promise<CollectionRecord> => {
  const updatedAt = new Date(Math.max(clock.now(), before.updatedAt.getTime() + 1));
  const {
    schema,
    rls,
    searchLanguage,
    closed = false,
    feed = null,
    ruleIndexes = [],
    uniqueLists = [],
    effects = [],
    partition = '',
  } = now;
  const options = {
    feed,
    ruleIndexes,
    closed,
    uniqueLists,
    effects,
    partition,
    ...(searchLanguage && { searchLanguage }),
  };
  const changes = { schema, rls, ...options, updatedAt };
  const begins = hasDueWork(now) && !before.effectsDueAt;
  const saved = await claimStale(leasedCollections, before, {
    $set: { ...changes, ...(begins && { effectsDueAt: new Date(clock.now()) }) },
    ...(!hasDueWork(now) && { $unset: { effectsDueAt: '' } }),
  });
  if (!saved) throw schemaConflict('The collection was changed by someone else at the same time. Retry.');
  return saved;
};

/** MongoDB allows one text index per collection. */
const requireRoomForSearch = (now: Collection, { indexes = [] }: CollectionRecord): void => {
  const own = indexes.find(({ keys }) => keys.some(([, kind]) => kind === 'text'));
  const [searchable] = searchableFields(now);
  if (!own || !searchable) return;
  throw schemaError(
    searchable.key,
    `is searchable, which needs the one text index that a collection can have. Delete your index "${own.name}" first`,
  );
};

/** A search index may take longer than a request; the repair job finishes the edit. */
const throttled =
  (now: Collection) =>
  (error: unknown): void => {
    const mayWait = searchableFields(now).length > 0 && error instanceof AppError && statusOf[error.code] === 503;
    if (!mayWait) throw error;
  };

/**
 * Edits schema and row security; documents stay as they are. Throws 409 `SCHEMA_CONFLICT` if active documents violate
 * the schema (unless `force`) or a unique index; 404; 503 after 25 s. The clean-up job repairs what an interrupted edit
 * leaves. Returns the collection and its previous schema.
 */
export const updateCollection = async (
  project: Project,
  name: string,
  {
    name: sameName = name,
    schema,
    rls,
    searchLanguage,
    changes,
    closed,
    unique,
    effects,
    partition,
    force = false,
  }: CollectionChanges,
) => {
  const end = clock.now() + limitMs;
  const leftMs = (): number => {
    const left = end - clock.now();
    if (left < 100) throw outOfTime(project);
    return left;
  };
  const before = await requireRecord(project, name);
  if (sameName !== name) throw new AppError('INVALID_NAME', 'A collection cannot be renamed.');
  const parsed = parseCollection(
    name,
    {
      schema: schema === undefined ? before.schema : schema,
      rls: changedRowSecurity(before.rls, rls),
      searchLanguage: searchLanguage ?? before.searchLanguage,
      closed: closed ?? before.closed,
      unique: unique === undefined ? before.uniqueLists : unique,
      effects: effects === undefined ? before.effects : effects,
      partition: partition === undefined ? before.partition || null : partition,
    },
    changedFeed(before.feed ?? null, changes),
  );
  const now = await checkRules(project, parsed, false);
  requireRoomForSearch(now, before);
  const required = { ...now, schema: withRequired(now.schema, now.partition) };
  await refuseConflicts(project, required, toCollection(before), force);
  const mark = await beginEdit(project, name);
  const tidy = () => finishEdit(project, name, mark, leftMs);
  try {
    await buildConstraints(project, now, leftMs());
    await noteReferences(project, now);
    const saved = await save(before, now);
    projectSaved(project.id);
    await tidy().catch(throttled(now));
    return { collection: await summarize(project, saved), schemaBefore: before.schema };
  } catch (error) {
    if (error instanceof AppError && error.code === 'SCHEMA_CONFLICT') await tidy().catch(() => undefined);
    throw error;
  }
};
