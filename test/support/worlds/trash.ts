import { ObjectId } from 'mongodb';
import { onControl, onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';

const dayMs = 86_400_000;
const perInsert = 5000;

/**
 * Documents that were trashed so many days ago, put in behind the service's back; `of` makes what they hold besides.
 */
export const addTrashed = async (
  project: Project,
  collection: string,
  count: number,
  daysAgo: number,
  of: (index: number) => Readonly<Record<string, unknown>> = () => ({}),
): Promise<string[]> => {
  const ids: string[] = [];
  const now = Date.now();
  for (let start = 0; start < count; start += perInsert) {
    const documents = Array.from({ length: Math.min(perInsert, count - start) }, (_, index) => ({
      _id: new ObjectId(),
      ...of(start + index),
      isDeleted: true,
      deletedAt: new Date(now - daysAgo * dayMs - start - index),
      createdAt: new Date(),
      updatedAt: new Date(),
    }));
    await onProject(project, (db) => db.collection(collection).insertMany(documents), 30_000);
    ids.push(...documents.map(({ _id }) => _id.toHexString()));
  }
  return ids;
};

/** How many documents a collection holds, trashed ones included. */
export const stored = (project: Project, collection: string, filter = {}): Promise<number> =>
  onProject(project, (db) => db.collection(collection).countDocuments(filter));

/**
 * Has the project be due at a time, also where its own database was seen to a moment ago. The service of the tests
 * looks every few seconds, and takes what is due by then.
 */
export const makePurgeDue = (project: Project, at = new Date(0)): Promise<unknown> =>
  onControl((db) =>
    db
      .collection('projects')
      .updateOne({ _id: new ObjectId(project.id) }, { $set: { trashDueAt: at }, $unset: { ownPurgeAfter: '' } }),
  );

/** When the project is due next. */
export const purgeDueAt = async (project: Project): Promise<Date> => {
  const record = await onControl((db) => db.collection('projects').findOne({ _id: new ObjectId(project.id) }));
  return record?.trashDueAt as Date;
};
