/** What browsers ask for files at its own address, in a deployment without CloudFront. */
export { answerFile as handler } from '../../shared/files/serve-file.ts';
