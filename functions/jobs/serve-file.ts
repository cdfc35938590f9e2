/** Only in deployments without CloudFront. */
export { respondWithFile as handler } from '../../shared/files/serve-file.ts';
