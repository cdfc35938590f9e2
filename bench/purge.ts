import type { Collection, Db } from 'mongodb';
import { purgeProject } from '../shared/documents/store/purge.ts';
import { requireProject } from '../shared/projects/find-project.ts';
import { comparePair, type Pair } from './pairs.ts';
import { sampleDocument } from './samples.ts';

const count = 20_000;
const perInsert = 5000;
const dayMs = 86_400_000;

const isExpired = { isDeleted: true, deletedAt: { $lte: new Date(Date.now() - 30 * dayMs) } };

const addExpired = async (collection: Collection): Promise<void> => {
  for (let start = 0; start < count; start += perInsert) {
    const documents = Array.from({ length: perInsert }, (_, index) => ({
      ...sampleDocument(start + index),
      isDeleted: true,
      deletedAt: new Date(Date.now() - 31 * dayMs - start - index),
      createdAt: new Date(),
      updatedAt: new Date(),
    }));
    await collection.insertMany(documents, { ordered: false });
  }
};

const perSecond = async (act: () => Promise<number>): Promise<number> => {
  const begin = performance.now();
  const done = await act();
  if (done !== count) throw new Error(`${done} of ${count} documents were removed`);
  return (count * 1000) / (performance.now() - begin);
};

/**
 * Documents per second that the daily purge deletes, compared with one `deleteMany`; both collections have the same
 * indexes.
 */
export const measurePurge = async (
  database: Db,
  projectId: string,
  names: { readonly basalt: string; readonly bare: string },
  rounds: number,
): Promise<Pair> => {
  const project = await requireProject(projectId);
  const labels = { name: 'purge the trash, documents', besides: 'one deleteMany' };
  return comparePair(labels, rounds, async () => {
    await addExpired(database.collection(names.bare));
    const beside = await perSecond(
      async () => (await database.collection(names.bare).deleteMany(isExpired)).deletedCount,
    );
    await addExpired(database.collection(names.basalt));
    const basalt = await perSecond(async () => (await purgeProject(project)).removed);
    return { beside, basalt };
  });
};
