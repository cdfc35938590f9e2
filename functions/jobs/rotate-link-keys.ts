/** Runs on a schedule: replaces the key that signs links to files once it is old. */
export { rotateLinkKeys as handler } from '../../shared/files/link-keys.ts';
