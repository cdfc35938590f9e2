import type { Db } from 'mongodb';
import { hasCode } from '../../clients/mongo-failure.ts';
import { AppError } from '../../core/errors.ts';
import { projectSaved } from '../../core/saved-projects.ts';
import type { Project } from '../../projects/project.ts';
import { changeHeld, deleteHeld } from '../../work/lease.ts';
import type { Collection, Feed } from '../collection.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { summarize } from '../collection-summary.ts';
import { leasedCollections } from '../control-collections.ts';
import { managedIndexes } from '../indexes/indexes.ts';
import { buildMissing } from '../indexes/sync-indexes.ts';
import { onCollection, ownUriOf } from '../on-collection.ts';
import { requireCollectionName, usersCollection } from '../schema/collection-name.ts';
import { newFeed, requireFeedFits } from '../schema/feed-rules.ts';
import { parseRowSecurity, type RowSecurityInput, withoutOwnerDefault } from '../schema/row-security-rules.ts';
import { parseSchema } from '../schema/schema-rules.ts';
import type { SearchLanguage } from '../schema/search-rules.ts';
import { toUsersSchema } from '../schema/users-rules.ts';
import { dropCollection, mayGoOn } from './drop-collection.ts';
import { reserveCollection } from './reserve-collection.ts';

/** Together these stay well below the lease of a creation. */
const prepareLimitMs = 10_000;
const dropMs = 4000;
const namespaceExists = 48;

/** A collection as sent; `schema` is checked by `parseSchema`. */
export interface CollectionInput {
  readonly schema: unknown;
  readonly rls?: RowSecurityInput | null | undefined;
  readonly searchLanguage?: SearchLanguage | undefined;
  /** Whether it has a changes feed. */
  readonly changes?: boolean | undefined;
}

/** A collection as a developer defines it; not by the rules → 400 `INVALID_NAME`, `INVALID_SCHEMA`. */
export const parseCollection = (
  name: string,
  { schema: given, rls, searchLanguage, changes = false }: CollectionInput,
  feed: Feed | null = newFeed(changes),
): Collection => {
  requireCollectionName(name);
  const parsed = parseSchema(given);
  const schema = name === usersCollection ? toUsersSchema(parsed) : parsed;
  const rowSecurity = parseRowSecurity(rls, name, schema);
  requireFeedFits(name, schema, feed);
  return {
    name,
    schema: withoutOwnerDefault(schema, rowSecurity),
    rls: rowSecurity,
    feed,
    ...(searchLanguage && { searchLanguage }),
  };
};

/** Documents that an insert left behind while the collection was being deleted belong to no collection any more. */
const dropLeftover = async (db: Db, name: string): Promise<void> => {
  const [leftover] = await db.listCollections({ name }, { nameOnly: true }).toArray();
  if (leftover) await dropCollection(db, name, dropMs);
};

const prepare = (project: Project, collection: Collection): Promise<void> =>
  onCollection(
    project,
    collection.name,
    async (db) => {
      const own = ownUriOf(project, collection.name) !== undefined;
      if (!own) await dropLeftover(db, collection.name);
      await db.createCollection(collection.name).catch((error: unknown) => {
        if (!hasCode(error, namespaceExists)) throw error;
      });
      const indexes = managedIndexes(collection);
      // A collection of the developer's own may have stood, with indexes, before it was registered.
      if (own) await buildMissing(db, collection.name, indexes);
      else await db.collection(collection.name).createIndexes([...indexes]);
    },
    prepareLimitMs,
  );

const activate = async (record: CollectionRecord): Promise<void> => {
  if (await changeHeld(leasedCollections, record, { $set: { state: 'active' } })) return;
  throw new AppError('SERVICE_UNAVAILABLE', 'Creating the collection took too long. Please try again.', {
    retryAfter: 1,
  });
};

/**
 * Creates a collection with its indexes. It exists for callers only once all is built; a creation that was cut short is
 * taken over by the next one of the same name. Refusals as `parseCollection` and `reserveCollection` have them.
 */
export const createCollection = async (project: Project, name: string, input: CollectionInput) => {
  const collection = parseCollection(name, input);
  const record = await reserveCollection(project, collection);
  try {
    await prepare(project, collection);
    await activate(record);
    projectSaved(project.id);
  } catch (error) {
    if (!mayGoOn(error)) await deleteHeld(leasedCollections, record).catch(() => undefined);
    throw error;
  }
  return summarize(project, record);
};
