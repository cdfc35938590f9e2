import { entryOf, read } from '../../api/query.ts';
import { listQuery } from './list-address.ts';

/** A press without a click afterwards is given up. */
const keptMs = 5000;

/** Requests what the page of a collection shows. The page shares these requests. */
export const prefetch = (projectId: string, collectionName: string): void => {
  const place = { projectId, collectionName };
  const entries = [
    entryOf('get-collection', place),
    entryOf('list-project-documents', { ...place, query: listQuery({}, undefined) }),
  ];
  const releases = entries.map(read);
  setTimeout(() => {
    for (const release of releases) release();
  }, keptMs);
};
