export { rotateLinkKeys as handler } from '../../shared/files/link-keys.ts';
