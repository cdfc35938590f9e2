import { removeAbandonedCollections } from '../../shared/collections/delete-collection.ts';
import { tidyEditedCollections } from '../../shared/collections/update-collection.ts';
import { throttled } from '../../shared/core/concurrency.ts';
import { removeDeletedProjects } from '../../shared/deletion/projects.ts';

/** Continues where an earlier run stopped. */
export const handler = () =>
  throttled(async () => ({
    projects: await removeDeletedProjects(),
    collections: await removeAbandonedCollections(),
    edits: await tidyEditedCollections(),
  }));
