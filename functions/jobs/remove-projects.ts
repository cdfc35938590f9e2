import { removeAbandonedCollections } from '../../shared/collections/lifecycle/remove-abandoned.ts';
import { tidyEditedCollections } from '../../shared/collections/lifecycle/tidy-edited.ts';
import { inBackground } from '../../shared/core/background.ts';
import { removeDeletedProjects } from '../../shared/projects/removal/remove-deleted-projects.ts';

/**
 * Runs on a schedule: removes what deleted projects owned, and collections whose creation or deletion was cut short.
 * Carries on where an earlier run stopped.
 */
export const handler = () =>
  inBackground(async () => ({
    projects: await removeDeletedProjects(),
    collections: await removeAbandonedCollections(),
    edits: await tidyEditedCollections(),
  }));
