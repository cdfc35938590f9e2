import { removeAbandonedCollections } from '../../shared/collections/delete-collection.ts';
import { tidyEditedCollections } from '../../shared/collections/update-collection.ts';
import { throttled } from '../../shared/core/concurrency.ts';
import { removeDeletedProjects } from '../../shared/deletion/projects.ts';
import { wakeDueCascades } from '../../shared/documents/store/cascade-job.ts';

/** Also wakes the follow-up of deletions whose message was lost. Continues where an earlier run stopped. */
export const handler = () =>
  throttled(async () => ({
    projects: await removeDeletedProjects(),
    collections: await removeAbandonedCollections(),
    edits: await tidyEditedCollections(),
    references: await wakeDueCascades(),
  }));
