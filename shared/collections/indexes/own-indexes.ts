import { type Db, MongoServerError } from 'mongodb';
import { isOutage } from '../../clients/mongo-failure.ts';
import { cutText } from '../../core/bounded-text.ts';
import { AppError, isClientError } from '../../core/errors.ts';
import { type PageRequest, pageFrom } from '../../core/page.ts';
import { untilWritten } from '../../core/until-written.ts';
import type { Project } from '../../projects/project.ts';
import { type Leased, takeOver } from '../../work/lease.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { collectionRecords, requireRecord } from '../control-collections.ts';
import { onCollection } from '../on-collection.ts';
import { wantedIndexes } from './apply-indexes.ts';
import { type NewIndex, namesOf, type OwnIndex, parseNewIndex, toIndexDescription } from './own-index.ts';
import { confirmIndex, releaseIndex, removeIndex, reserveIndex } from './reserve-index.ts';
import { buildIndexes, buildLimitMs, dropIfThere, isIndexConflict } from './sync-indexes.ts';

/** An index of the developer's own as the dashboard returns it (contract 6, "Records"). */
const toView = ({ name, keys }: Pick<OwnIndex, 'name' | 'keys'>) => ({ name, keys: Object.fromEntries(keys) });

/** A page of the developer's own indexes of a collection, oldest first. */
export const listIndexes = async (project: Project, collectionName: string, request: PageRequest) => {
  const { indexes = [] } = await requireRecord(project, collectionName);
  return pageFrom(indexes.filter((index) => index.ready).map(toView), request);
};

/** Throws what the caller's own keys cause as a refusal, and a failure that says nothing about them as it is. */
const orRefusal = (cause: unknown): never => {
  if (!(cause instanceof MongoServerError) || isOutage(cause)) throw cause;
  const [code, message] = isIndexConflict(cause)
    ? (['INDEX_EXISTS', 'An index with this name or these keys exists already; only one text index fits.'] as const)
    : (['INVALID_INDEX', 'The documents of this collection cannot be indexed by these keys.'] as const);
  throw new AppError(code, message, { cause });
};

/** Drops an index of the developer's own, under whichever name it was built. */
export const dropIndex = (project: Project, collectionName: string, name: string): Promise<void> =>
  onCollection(project, collectionName, async (db) => {
    for (const built of namesOf(name)) await dropIfThere(db, collectionName, built);
  });

/**
 * Builds an index of the developer's own and resolves once it is built. Not an index, or more than 20 → 400
 * `INVALID_INDEX`; its name or keys taken → 409 `INDEX_EXISTS`.
 */
export const createIndex = async (project: Project, collectionName: string, input: NewIndex) => {
  const wanted = parseNewIndex(input);
  const record = await requireRecord(project, collectionName);
  const index = await reserveIndex(record, wanted, (name) => dropIndex(project, collectionName, name));
  const built = [toIndexDescription(index, record)];
  const build = (db: Db) => db.collection(collectionName).createIndexes(built).catch(orRefusal);
  try {
    await onCollection(project, collectionName, build, buildLimitMs);
    await confirmIndex(record, index);
  } catch (error) {
    await (isClientError(error) ? removeIndex(record, index) : releaseIndex(record, index)).catch(() => undefined);
    throw error;
  }
  return toView(index);
};

/**
 * An index is taken out of the record only as it was read: an edit that has begun or ended since may have built it
 * anew.
 */
const unchanged: Leased<CollectionRecord> = {
  records: collectionRecords,
  lease: 'editingSince',
  while: ['updatedAt', 'state'],
};

/** Drops an index of the developer's own, never one of the service's; unknown → 404 `INDEX_NOT_FOUND`. */
export const deleteIndex = async (project: Project, collectionName: string, name: string): Promise<void> => {
  const current = await untilWritten('The collection is being edited right now. Please try again.', async () => {
    const record = await requireRecord(project, collectionName);
    const index = record.indexes?.find((candidate) => candidate.name === name && candidate.ready);
    if (!index) throw new AppError('INDEX_NOT_FOUND', `The collection has no index "${cutText(name, 100)}" of yours.`);
    await dropIndex(project, collectionName, name);
    return takeOver(unchanged, record, { $pull: { indexes: { name, since: index.since } } });
  });
  // The dropped index may have stood in for one that the service needs.
  await buildIndexes(project, collectionName, wantedIndexes(current));
};
