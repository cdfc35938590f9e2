import { removeAbandonedCollections } from '../../shared/collections/lifecycle/remove-abandoned.ts';
import { tidyEditedCollections } from '../../shared/collections/lifecycle/tidy-edited.ts';
import { removeDeletedProjects } from '../../shared/projects/removal/remove-deleted-projects.ts';

/**
 * Runs on a schedule: removes what deleted projects owned, and collections whose creation or deletion was cut short.
 * Carries on where an earlier run stopped.
 */
export const handler = async (): Promise<{
  readonly projects: number;
  readonly collections: number;
  readonly edits: number;
}> => ({
  projects: await removeDeletedProjects(),
  collections: await removeAbandonedCollections(),
  edits: await tidyEditedCollections(),
});
