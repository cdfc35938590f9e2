import { ObjectId } from 'mongodb';
import { onControl } from '../clients/mongo.ts';
import type { Page, PageRequest } from '../page.ts';
import type { Owner } from './create-project.ts';
import type { ProjectRecord } from './project-record.ts';
import { type ProjectView, toProjectView } from './project-view.ts';

/** A page of the developer's own projects, newest first. */
export const listProjects = async (owner: Owner, { page, limit }: PageRequest): Promise<Page<ProjectView>> => {
  const own = { ownerId: new ObjectId(owner.id), state: 'active' } as const;
  const [records, total] = await onControl((db) => {
    const projects = db.collection<ProjectRecord>('projects');
    return Promise.all([
      projects.find(own, { sort: { _id: -1 }, skip: (page - 1) * limit, limit, maxTimeMS: 5000 }).toArray(),
      projects.countDocuments(own, { maxTimeMS: 5000 }),
    ]);
  });
  return { items: records.map((record) => toProjectView(record, owner.plan)), total, page, limit };
};
