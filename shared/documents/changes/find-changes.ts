import { type Db, Timestamp } from 'mongodb';
import { findRaw } from '../../clients/find-raw.ts';
import { onProject } from '../../clients/mongo.ts';
import { deserialize } from '../../clients/raw-documents.ts';
import type { Collection } from '../../collections/collection.ts';
import { feedKeys } from '../../collections/indexes/indexes.ts';
import { JsonText } from '../../core/json-text.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';
import { allOf, type Condition } from '../read/condition.ts';
import { lacksIndex } from '../read/owner-hint.ts';
import { boundOf, measured, PageBudget } from '../read/page-size.ts';
import { textOf, whole } from '../read/projection.ts';
import { revisionOf } from '../revision.ts';
import { visibilityFilter } from '../row-security.ts';
import { isTrashed } from '../trash/trash-conditions.ts';
import { wireDocument } from '../wire-value.ts';
import type { At, FeedPosition } from './position.ts';
import { notEnabled } from './require-feed.ts';

/** Changes in the order of their places, and whether others follow. */
export interface ChangePage {
  /** Each `{_id, rev, deleted?, document?}`: one document that changed, in its latest state. */
  readonly changes: readonly JsonText[];
  readonly places: readonly At[];
  readonly more: boolean;
}

export const atOf = (stored: Timestamp): At => BigInt.asUintN(64, stored.toBigInt());
export const placeOf = ({ _pos }: Document): At => (_pos instanceof Timestamp ? atOf(_pos) : 0n);
export const timestamp = (at: At): Timestamp => new Timestamp(at);

/** A document that is in the trash, or gone for good, is not shown. */
const toChange = (project: Project, raw: Uint8Array, stored: Document): JsonText => {
  const id = JSON.stringify(wireDocument({ _id: stored._id })._id);
  const state = isTrashed(stored) ? '"deleted":true' : `"document":${textOf(project, raw, whole).text}`;
  return new JsonText(`{"_id":${id},"rev":${revisionOf(stored)},${state}}`);
};

/** What the caller may list of the changes, by an index that leads to nothing else. A private one without a user → 401. */
const listed = (collection: Collection, caller: Caller) => {
  const own = visibilityFilter(collection, caller, false);
  return {
    conditions: own ? [own] : [],
    hint: own ? feedKeys(collection.rls.ownerField) : feedKeys(),
  };
};

/**
 * Only the primary has all that was acknowledged, as others may be behind; and what no majority has yet may be rolled
 * back, after which its revision and its position stand for another change.
 */
export const settled = { readPreference: 'primary', readConcern: { level: 'majority' }, maxTimeMS: 5000 } as const;

/** Runs a read by the index of the feed, which may not be built yet. */
export const byFeed = async <T>(project: Project, read: (db: Db) => Promise<T>): Promise<T> =>
  onProject(project, async (db) => {
    try {
      return await read(db);
    } catch (error) {
      if (!lacksIndex(error)) throw error;
      throw notEnabled('The changes of this collection are just being prepared. Please try again in a minute.');
    }
  });

/** The condition of changes after a position that it has not shown. */
export const afterPosition = ({ after, shown }: FeedPosition): Condition =>
  ({ _pos: { $gt: timestamp(after), ...(shown.length > 0 && { $nin: shown.map(timestamp) }) } }) as Condition;

/** The changes after a position that it has not shown, in one find: at most `limit`, and 5 MiB of JSON. */
export const findChanges = (
  project: Project,
  collection: Collection,
  caller: Caller,
  position: FeedPosition,
  limit: number,
): Promise<ChangePage> => {
  const { conditions, hint } = listed(collection, caller);
  const filter = allOf([...conditions, afterPosition(position)]);
  return byFeed(project, async (db) => {
    const [changes, places, budget]: [JsonText[], At[], PageBudget] = [[], [], new PageBudget()];
    const find = { sort: { _pos: 1 }, hint, limit: limit + 1, ...settled } as const;
    for await (const batch of findRaw(db, collection.name, filter, find)) {
      for (const raw of batch) {
        if (changes.length === limit) return { changes, places, more: true };
        const stored = deserialize(raw) as Document;
        const change = toChange(project, raw, stored);
        const isFull = !budget.add({ atMost: boundOf(raw.byteLength), exact: () => measured(change) });
        if (isFull && changes.length > 0) return { changes, places, more: true };
        changes.push(change);
        places.push(placeOf(stored));
      }
    }
    return { changes, places, more: false };
  });
};

/** The places of the latest changes after one, in order; at most `limit`. */
export const findLatest = (
  project: Project,
  collection: Collection,
  caller: Caller,
  after: At,
  limit: number,
): Promise<readonly At[]> => {
  const { conditions, hint } = listed(collection, caller);
  const filter = allOf([...conditions, { _pos: { $gt: timestamp(after) } } as Condition]);
  return byFeed(project, async (db) => {
    const find = { sort: { _pos: -1 }, projection: { _id: 0, _pos: 1 }, hint, limit, ...settled } as const;
    const places: At[] = [];
    for await (const batch of findRaw(db, collection.name, filter, find)) {
      for (const raw of batch) places.push(placeOf(deserialize(raw) as Document));
    }
    return places.reverse();
  });
};
