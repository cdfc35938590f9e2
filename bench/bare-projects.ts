import { type Db, type Document, ObjectId } from 'mongodb';

const shown = { name: 1, siteUrl: 1, publishableKey: 1, allowedDomains: 1, createdAt: 1, updatedAt: 1 };

/** Lists the projects of `owner`: a page and its total in parallel. */
export const bareProjects = async (control: Db, query: URLSearchParams): Promise<Document> => {
  const projects = control.collection('projects');
  const filter = { ownerId: new ObjectId(query.get('owner') ?? ''), state: 'active' };
  const [items, total] = await Promise.all([
    projects
      .find(filter, { projection: shown })
      .sort({ _id: -1 })
      .limit(Number(query.get('limit')))
      .toArray(),
    projects.countDocuments(filter),
  ]);
  return { items, total };
};

/** The newest emails of a project. */
export const bareMailLogs = (control: Db, query: URLSearchParams): Promise<Document[]> =>
  control
    .collection('mailLogs')
    .find({ projectId: new ObjectId(query.get('project') ?? '') }, { projection: { job: 0 } })
    .sort({ sentAt: -1, _id: -1 })
    .limit(50)
    .toArray();
