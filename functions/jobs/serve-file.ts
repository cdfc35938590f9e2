/** Only in deployments without CloudFront. */
export { answerFile as handler } from '../../shared/files/serve-file.ts';
