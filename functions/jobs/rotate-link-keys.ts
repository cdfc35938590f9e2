import { rotateLinkKeys } from '../../shared/files/links/rotate-link-keys.ts';

/** Runs on a schedule: replaces the key that signs links to files once it is old. */
export const handler = async (): Promise<void> => rotateLinkKeys();
