import { estimateDocuments } from '../../collections/find-collections.ts';
import { isActive } from '../../collections/trash-conditions.ts';
import { setBounded } from '../../core/cache.ts';
import { clock } from '../../core/clock.ts';
import { databaseOf } from '../../persistence/mongo.ts';
import type { Project } from '../../projects/project.ts';
import { boundedQuery } from './bounded-query.ts';
import { allOf, type Condition, type Selection } from './condition.ts';
import { withHint } from './index-hint.ts';
import { selected } from './sort.ts';

/** The number of matches; capped totals are lower bounds. */
export interface Total {
  readonly total: number;
  /** There are more than `total`. */
  readonly totalCapped?: true;
}

/** Totals are exact up to here (contract 2, "total"). */
const exactUpTo = 10_000;

/** Counts every document: without a condition the database answers from its metadata. */
const everything: Condition = { _id: { $exists: true } };

const capped = (count: number): Total =>
  count > exactUpTo ? { total: exactUpTo, totalCapped: true } : { total: count };

/**
 * Counts the matching documents exactly, up to `limit` (0: all), with the command `count`, which costs MongoDB half
 * of an aggregation. The driver advises against it because without a condition it reads the metadata. Patterns come
 * last.
 */
export const countMatching = (
  project: Project,
  name: string,
  { conditions, afterwards, joins, hint }: Selection,
  limit = 0,
): Promise<number> =>
  boundedQuery(
    project,
    name,
    () => ['count', conditions, afterwards, limit],
    (db, maxTimeMS) =>
      withHint(hint, async (named) => {
        const [documents, told] = [db.collection(name), { maxTimeMS, ...named }];
        if (afterwards.length === 0 && !joins) {
          return documents.count(allOf(conditions.length > 0 ? conditions : [everything]), { ...told, limit });
        }
        const bound = limit > 0 ? [{ $limit: limit }] : [];
        const stages = [...selected({ conditions, afterwards, joins }), ...bound, { $count: 'n' }];
        const [row] = await documents.aggregate<{ n: number }>(stages, told).toArray();
        return row?.n ?? 0;
      }),
  );

/** The number of matching documents, exact up to 10 000 and capped there. */
export const filteredTotal = async (project: Project, name: string, selection: Selection): Promise<Total> =>
  capped(await countMatching(project, name, selection, exactUpTo + 1));

/** What this process knows of a collection's metadata count. */
interface Trust {
  readonly checkedAt: number;
  readonly agrees: boolean;
  readonly counted: number;
}

const checkEveryMs = 60_000;
const rememberedCollections = 2000;
const trusts = new Map<string, Trust>();

/** A count so far above the exact range that its error does not matter. */
const isFarAbove = (count: number): boolean => count > 2 * exactUpTo;

const isDue = (trust: Trust | undefined): boolean =>
  !trust?.agrees || (!isFarAbove(trust.counted) && clock.now() - trust.checkedAt >= checkEveryMs);

/**
 * The number of documents in a collection, with two commands whose cost does not depend on its size: the database's
 * own count minus the indexed trash. The database's count can be wrong after an unclean stop, so once a minute a
 * third command counts up to 10 001; if they disagree, the real count is used until they agree again. A count far
 * above that is checked once, and again when the collection turns out smaller.
 */
export const unfilteredTotal = async (project: Project, name: string, includeDeleted: boolean): Promise<Total> => {
  const key = `${databaseOf(project)}\n${project.id}\n${name}\n${includeDeleted}`;
  const counted = includeDeleted ? everything : isActive;
  const read = async (check: boolean) => {
    const real = check
      ? countMatching(project, name, { conditions: [counted], afterwards: [] }, exactUpTo + 1)
      : undefined;
    const [metadata, checked] = await Promise.all([estimateDocuments(project, name, includeDeleted), real]);
    return { metadata, real: checked };
  };
  const trust = trusts.get(key);
  const first = await read(isDue(trust));
  const hasShrunk = trust !== undefined && isFarAbove(trust.counted) && !isFarAbove(first.metadata);
  const { metadata, real } = hasShrunk && first.real === undefined ? await read(true) : first;
  if (real === undefined) return { total: metadata };
  const agrees = Math.min(metadata, exactUpTo + 1) === real;
  setBounded(trusts, key, { checkedAt: clock.now(), agrees, counted: metadata }, rememberedCollections);
  return agrees ? { total: metadata } : capped(real);
};
