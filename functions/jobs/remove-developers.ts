import { removeDeletedDevelopers } from '../../shared/deletion/developers.ts';

/** Continues where an earlier run stopped. */
export const handler = async (): Promise<{ readonly developers: number }> => ({
  developers: await removeDeletedDevelopers(),
});
