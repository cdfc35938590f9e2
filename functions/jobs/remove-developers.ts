import { removeDeletedDevelopers } from '../../shared/deletion/developers.ts';

/** Runs on a schedule: removes what is left of deleted developer accounts. Carries on where an earlier run stopped. */
export const handler = async (): Promise<{ readonly developers: number }> => ({
  developers: await removeDeletedDevelopers(),
});
