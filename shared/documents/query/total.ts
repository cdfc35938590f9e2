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

/** How many documents match; capped totals are at least as large as shown. */
export interface Total {
  readonly total: number;
  /** There are more than `total`. */
  readonly totalCapped?: true;
}

/** Totals are exact up to here (contract 2, "total"). */
const exactUpTo = 10_000;

/** Every document, counted one by one: without a condition the database answers from the metadata of the collection. */
const everything: Condition = { _id: { $exists: true } };

const capped = (count: number): Total =>
  count > exactUpTo ? { total: exactUpTo, totalCapped: true } : { total: count };

/**
 * How many documents match, exactly, up to `limit` (0: all), by the command `count`, which costs MongoDB half of what
 * an aggregation does; the driver advises that because without a condition it asks the metadata. Patterns come last.
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

/** How many documents match, exact up to 10 000 and capped there. */
export const filteredTotal = async (project: Project, name: string, selection: Selection): Promise<Total> =>
  capped(await countMatching(project, name, selection, exactUpTo + 1));

/** What is known of a collection's metadata count in this process. */
interface Trust {
  readonly checkedAt: number;
  readonly agrees: boolean;
  readonly counted: number;
}

const checkEveryMs = 60_000;
const rememberedCollections = 2000;
const trusts = new Map<string, Trust>();

/** A count so far above the exact range that its error cannot bring it back into it. */
const isFarAbove = (count: number): boolean => count > 2 * exactUpTo;

const isDue = (trust: Trust | undefined): boolean =>
  !trust?.agrees || (!isFarAbove(trust.counted) && clock.now() - trust.checkedAt >= checkEveryMs);

/**
 * How many documents a collection has, in two commands that cost the same at any size: the database's own count less
 * the indexed trash. That count can be off after an unclean stop, so once a minute a third command counts up to 10 001;
 * where the two disagree the real count is the answer until they agree again. A count far above that is checked once,
 * and again as soon as the collection turns out to be smaller.
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
