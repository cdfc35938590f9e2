import { ObjectId } from 'mongodb';
import { findPage } from '../clients/find-page.ts';
import type { Page, PageRequest } from '../core/page.ts';
import type { Project } from '../projects/project.ts';
import { type CollectionSummary, summarize } from './collection-summary.ts';
import { onCollections, requireRecord } from './control-collections.ts';

/** A page of a project's collections, by name. */
export const listCollections = async (project: Project, request: PageRequest): Promise<Page<CollectionSummary>> => {
  const own = { projectId: new ObjectId(project.id), state: 'active' } as const;
  const found = await findPage(onCollections, own, request, { sort: { name: 1 } });
  return { ...found, items: await Promise.all(found.items.map((record) => summarize(project, record))) };
};

/** One collection of a project by its exact name; none → 404 `COLLECTION_NOT_FOUND`. */
export const getCollection = async (project: Project, name: string): Promise<CollectionSummary> =>
  summarize(project, await requireRecord(project, name));
