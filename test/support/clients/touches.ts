import { onControl, onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';

const calls = ['search calls', 'search near calls', 'next calls', 'prev calls'] as const;

interface Table {
  readonly cursor?: Readonly<Record<string, number>>;
}

/** Keys and documents that have been looked at so far, by index; those of documents under `documents`. */
const countsOf = (project: Project, collection: string): Promise<ReadonlyMap<string, number>> =>
  onProject(project, async (db) => {
    const [found] = await db
      .collection(collection)
      .aggregate([{ $collStats: { storageStats: {} } }])
      .toArray();
    const { wiredTiger, indexDetails } = (found?.storageStats ?? {}) as {
      readonly wiredTiger: Table;
      readonly indexDetails: Readonly<Record<string, Table>>;
    };
    const tables = Object.entries({ documents: wiredTiger, ...indexDetails });
    return new Map(
      tables.map(([name, { cursor }]) => [name, calls.reduce((sum, call) => sum + (cursor?.[call] ?? 0), 0)]),
    );
  });

/**
 * Has the engine finish each of its steps at once: one that takes longer than 10 ms would give way to others, and then
 * look its place up once more.
 */
const withoutYielding = async <T>(act: () => Promise<T>): Promise<T> => {
  const yieldAfter = (ms: number) =>
    onControl((db) => db.admin().command({ setParameter: 1, internalQueryExecYieldPeriodMS: ms }));
  const { was } = (await yieldAfter(60_000)) as { readonly was: number };
  try {
    return await act();
  } finally {
    await yieldAfter(was);
  }
};

/**
 * How many keys of each index, and how many documents, the storage engine looked at in a collection while `act` ran:
 * in plans that were tried and given up and in joins at any depth, too, which `explain` leaves out. Nothing else may
 * use the collection meanwhile.
 */
export const touchesOf = async (
  project: Project,
  collection: string,
  act: () => Promise<unknown>,
): Promise<Readonly<Record<string, number>>> => {
  const before = await countsOf(project, collection);
  await withoutYielding(act);
  const after = await countsOf(project, collection);
  const touched = [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(touched.filter(([, count]) => count > 0));
};
