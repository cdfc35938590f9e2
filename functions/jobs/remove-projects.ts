import { removeAbandonedCollections } from '../../shared/collections/delete-collection.ts';
import { tidyEditedCollections } from '../../shared/collections/update-collection.ts';
import { throttled } from '../../shared/core/concurrency.ts';
import { removeDeletedProjects } from '../../shared/deletion/projects.ts';

/**
 * Runs on a schedule: removes what deleted projects owned, and collections whose creation or deletion was cut short.
 * Carries on where an earlier run stopped.
 */
export const handler = () =>
  throttled(async () => ({
    projects: await removeDeletedProjects(),
    collections: await removeAbandonedCollections(),
    edits: await tidyEditedCollections(),
  }));
