import { type AggregateOptions, type Db, MongoServerError } from 'mongodb';
import { onProject } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { databaseOf } from '../../projects/database-of.ts';
import type { Project } from '../../projects/project.ts';
import { isActive, isInTrash } from '../trash/trash-conditions.ts';
import type { Condition, Selection } from './condition.ts';
import { withHint } from './owner-hint.ts';
import { selected } from './sort-key-pipeline.ts';

/** How many documents match; capped totals are at least as large as shown. */
export interface Total {
  readonly total: number;
  /** There are more than `total`. */
  readonly totalCapped?: true;
}

/** Totals are exact up to here (contract 2, "total"). */
const exactUpTo = 10_000;
const options: AggregateOptions = { maxTimeMS: 5000 };
const namespaceNotFound = 26;

const capped = (count: number): Total =>
  count > exactUpTo ? { total: exactUpTo, totalCapped: true } : { total: count };

const count = async (project: Project, name: string, selection: Selection, limit?: number): Promise<number> => {
  const stages = [...selected(selection), ...(limit === undefined ? [] : [{ $limit: limit }]), { $count: 'n' }];
  const [row] = await onProject(project, (db) =>
    withHint(selection.hint, (hint) =>
      db
        .collection(name)
        .aggregate<{ n: number }>(stages, { ...options, ...hint })
        .toArray(),
    ),
  );
  return row?.n ?? 0;
};

/** How many documents match, exactly, however many they are. */
export const countMatching = (project: Project, name: string, selection: Selection): Promise<number> =>
  count(project, name, selection);

/** How many documents match, exact up to 10 000 and capped there. */
export const filteredTotal = async (project: Project, name: string, selection: Selection): Promise<Total> =>
  capped(await count(project, name, selection, exactUpTo + 1));

/** What is known of a collection's metadata count in this process. */
interface Trust {
  readonly checkedAt: number;
  readonly agrees: boolean;
  readonly counted: number;
}

const checkEveryMs = 60_000;
const rememberedCollections = 2000;
const trusts = new Map<string, Trust>();

const remember = (key: string, trust: Trust): void => {
  trusts.delete(key);
  trusts.set(key, trust);
  if (trusts.size > rememberedCollections) trusts.delete(trusts.keys().next().value as string);
};

/** A count so far above the exact range that its error cannot bring it back into it. */
const isFarAbove = (count: number): boolean => count > 2 * exactUpTo;

const isDue = (trust: Trust | undefined): boolean =>
  !trust?.agrees || (!isFarAbove(trust.counted) && clock.now() - trust.checkedAt >= checkEveryMs);

const counted = (name: string, match: Condition, as: string, limit: number | undefined) => ({
  $unionWith: {
    coll: name,
    pipeline: [{ $match: match }, ...(limit === undefined ? [] : [{ $limit: limit }]), { $count: as }],
  },
});

interface Counts {
  readonly metadata: number;
  readonly real: number | undefined;
}

const readCounts = async (db: Db, name: string, includeDeleted: boolean, check: boolean): Promise<Counts> => {
  const pipeline = [
    { $collStats: { count: {} } },
    { $project: { _id: 0, count: 1 } },
    ...(includeDeleted ? [] : [counted(name, isInTrash, 'trash', undefined)]),
    ...(check ? [counted(name, includeDeleted ? {} : isActive, 'real', exactUpTo + 1)] : []),
  ];
  try {
    const rows = await db.collection(name).aggregate<Record<string, number>>(pipeline, options).toArray();
    const sum = (key: string): number => rows.reduce((total, row) => total + (row[key] ?? 0), 0);
    return { metadata: Math.max(0, sum('count') - sum('trash')), real: check ? sum('real') : undefined };
  } catch (error) {
    if (error instanceof MongoServerError && error.code === namespaceNotFound) return { metadata: 0, real: 0 };
    throw error;
  }
};

/**
 * How many documents a collection has, in one command that costs the same at any size: the database's own count less
 * the indexed trash. That count can be off after an unclean stop, so once a minute the same command also counts up to
 * 10 001; where the two disagree the real count is the answer until they agree again. A count far above that is checked
 * once, and again, by a second command, as soon as the collection turns out to be smaller.
 */
export const unfilteredTotal = async (project: Project, name: string, includeDeleted: boolean): Promise<Total> => {
  const key = `${databaseOf(project)}\n${project.id}\n${name}\n${includeDeleted}`;
  const read = (check: boolean): Promise<Counts> =>
    onProject(project, (db) => readCounts(db, name, includeDeleted, check));
  const trust = trusts.get(key);
  const first = await read(isDue(trust));
  const hasShrunk = trust !== undefined && isFarAbove(trust.counted) && !isFarAbove(first.metadata);
  const { metadata, real } = hasShrunk && first.real === undefined ? await read(true) : first;
  if (real === undefined) return { total: metadata };
  const agrees = Math.min(metadata, exactUpTo + 1) === real;
  remember(key, { checkedAt: clock.now(), agrees, counted: metadata });
  return agrees ? { total: metadata } : capped(real);
};
