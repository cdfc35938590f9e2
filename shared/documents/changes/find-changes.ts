import { Timestamp } from 'mongodb';
import { findRaw, maxTimeMS } from '../../clients/find-raw.ts';
import { onProject } from '../../clients/mongo.ts';
import { deserialize } from '../../clients/raw-documents.ts';
import { feedKeys } from '../../collections/indexes/indexes.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { JsonText } from '../../core/json-text.ts';
import type { Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';
import { allOf, type Condition } from '../read/condition.ts';
import { type Hint, lacksIndex } from '../read/owner-hint.ts';
import { boundOf, measured, PageBudget } from '../read/page-size.ts';
import { textOf, whole } from '../read/projection.ts';
import { revisionOf } from '../revision.ts';
import { type Visit, visibilityFilter } from '../row-security.ts';
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

/**
 * What the caller may list of the changes, by an index that leads to nothing else. A private one without a user → 401.
 */
const listed = (visit: Visit) => {
  const own = visibilityFilter(visit, false);
  return {
    conditions: own ? [own] : [],
    hint: own ? feedKeys(visit.collection.rls.ownerField) : feedKeys(),
  };
};

/**
 * Only the primary has all that was acknowledged, as others may be behind; and what no majority has yet may be rolled
 * back, after which its revision and its position stand for another change.
 */
const settled = { readPreference: 'primary', readConcern: { level: 'majority' } } as const;

/** What is asked of a feed: which documents, by which of its indexes, and from which end of it. */
interface FeedRead {
  readonly filter: Condition;
  readonly sort: { readonly _pos: 1 | -1 };
  readonly hint: Hint;
  readonly limit: number;
  readonly projection?: Readonly<Record<string, 0 | 1>>;
}

/**
 * Hands on what a feed has, as it is stored, until `take` wants no more; by an index of the feed, which may not be
 * built yet. Returns whether it took all.
 */
export const walkFeed = (
  { project, collection }: Pick<Visit, 'project' | 'collection'>,
  { filter, ...find }: FeedRead,
  take: (stored: Document, raw: Uint8Array) => boolean,
): Promise<boolean> =>
  onProject(project, async (db) => {
    try {
      for await (const batch of findRaw(db, collection.name, filter, { ...find, ...settled, maxTimeMS })) {
        if (!batch.every((raw) => take(deserialize(raw) as Document, raw))) return false;
      }
      return true;
    } catch (error) {
      if (!lacksIndex(error)) throw error;
      throw notEnabled('The changes of this collection are just being prepared. Please try again in a minute.');
    }
  });

/** The condition of changes after a position that it has not shown. */
export const afterPosition = ({ after, shown }: FeedPosition): Condition =>
  ({ _pos: { $gt: timestamp(after), ...(shown.length > 0 && { $nin: shown.map(timestamp) }) } }) as Condition;

/** The changes after a position that it has not shown, in one find: at most `limit`, and 5 MiB of JSON. */
export const findChanges = async (visit: Visit, position: FeedPosition, limit: number): Promise<ChangePage> => {
  const { conditions, hint } = listed(visit);
  const filter = allOf([...conditions, afterPosition(position)]);
  const [changes, places, budget]: [JsonText[], At[], PageBudget] = [[], [], new PageBudget()];
  const find = { filter, sort: { _pos: 1 }, hint, limit: limit + 1 } as const;
  const isAll = await walkFeed(visit, find, (stored, raw) => {
    if (changes.length === limit) return false;
    const change = toChange(visit.project, raw, stored);
    const isFull = !budget.add({ atMost: boundOf(raw.byteLength), exact: () => measured(change) });
    if (isFull && changes.length > 0) return false;
    changes.push(change);
    places.push(placeOf(stored));
    return true;
  });
  return { changes, places, more: !isAll };
};

/** The places of the latest changes after one, in order; at most `limit`. */
export const findLatest = async (visit: Visit, after: At, limit: number): Promise<readonly At[]> => {
  const { conditions, hint } = listed(visit);
  const filter = allOf([...conditions, afterPosition({ after, shown: [] })]);
  const find = { filter, sort: { _pos: -1 }, projection: { _id: 0, _pos: 1 }, hint, limit } as const;
  const places: At[] = [];
  await walkFeed(visit, find, (stored) => places.push(placeOf(stored)) > 0);
  return places.reverse();
};
