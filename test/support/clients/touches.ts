import { onControl, onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';

const calls = ['search calls', 'search near calls', 'next calls', 'prev calls'] as const;

interface Table {
  readonly cursor?: Readonly<Record<string, number>>;
}

/** Examined keys by index, and documents under `documents`. */
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

/** Makes the engine finish its steps without yielding; otherwise, steps over 10 ms would look up their place again. */
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
 * Counts the index keys and documents that the storage engine examined in a collection during `act`, including
 * abandoned plans and joins, which `explain` omits. Nothing else may use the collection meanwhile.
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
