import { type Db, type IndexDescription, type IndexDescriptionInfo, MongoServerError } from 'mongodb';
import { onProject } from '../clients/mongo.ts';
import type { Project } from '../projects/project.ts';
import { managedPrefix } from './indexes.ts';

/** Building an index reads the whole collection; API Gateway waits 30 s. */
export const buildLimitMs = 22_000;

const namespaceNotFound = 26;
const indexNotFound = 27;

/** True for the error of a server that was asked to drop an index or a collection that is not there. */
export const isAlreadyGone = (error: unknown): boolean =>
  error instanceof MongoServerError && (error.code === indexNotFound || error.code === namespaceNotFound);

const existingIndexes = async (db: Db, name: string): Promise<IndexDescriptionInfo[]> => {
  try {
    return await db.collection(name).listIndexes().toArray();
  } catch (error) {
    if (isAlreadyGone(error)) return [];
    throw error;
  }
};

const order = (key: IndexDescription['key']): string =>
  JSON.stringify(key instanceof Map ? [...key] : Object.entries(key));

/** An index of the developer's own may already do what a plain one of ours would, and MongoDB refuses a second such. */
const serves = (existing: IndexDescriptionInfo, wanted: IndexDescription): boolean =>
  existing.name === wanted.name ||
  (!wanted.unique &&
    !wanted.partialFilterExpression &&
    !existing.partialFilterExpression &&
    !existing.sparse &&
    order(existing.key) === order(wanted.key));

/** Builds those of the wanted indexes that are missing, and answers once they stand. */
export const buildIndexes = (project: Project, name: string, wanted: readonly IndexDescription[]): Promise<void> =>
  onProject(
    project,
    async (db) => {
      const existing = await existingIndexes(db, name);
      const missing = wanted.filter((index) => !existing.some((candidate) => serves(candidate, index)));
      if (missing.length > 0) await db.collection(name).createIndexes(missing);
    },
    buildLimitMs,
  );

/** Drops the service's own indexes that are not wanted any more; the developer's stay. */
export const dropObsoleteIndexes = (
  project: Project,
  name: string,
  wanted: readonly IndexDescription[],
): Promise<void> =>
  onProject(project, async (db) => {
    const keep = new Set(wanted.map((index) => index.name));
    for (const index of await existingIndexes(db, name)) {
      if (!index.name?.startsWith(managedPrefix) || keep.has(index.name)) continue;
      await db
        .collection(name)
        .dropIndex(index.name)
        .catch((error: unknown) => {
          if (!isAlreadyGone(error)) throw error;
        });
    }
  });
