import { ObjectId } from 'mongodb';
import type { Page, PageRequest } from '../core/page.ts';
import type { Project } from '../projects/project.ts';
import { type CollectionSummary, summarize } from './collection-summary.ts';
import { onCollections, requireRecord } from './control-collections.ts';

/** A page of a project's collections, by name. */
export const listCollections = async (
  project: Project,
  { page, limit }: PageRequest,
): Promise<Page<CollectionSummary>> => {
  const own = { projectId: new ObjectId(project.id), state: 'active' } as const;
  const [records, total] = await onCollections((collections) =>
    Promise.all([
      collections.find(own, { sort: { name: 1 }, skip: (page - 1) * limit, limit, maxTimeMS: 5000 }).toArray(),
      collections.countDocuments(own, { maxTimeMS: 5000 }),
    ]),
  );
  const items = await Promise.all(records.map((record) => summarize(project, record)));
  return { items, total, page, limit };
};

/** One collection of a project by its exact name; none → 404 `COLLECTION_NOT_FOUND`. */
export const getCollection = async (project: Project, name: string): Promise<CollectionSummary> =>
  summarize(project, await requireRecord(project, name));
