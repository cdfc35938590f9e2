/** Only in deployments without CloudFront. */
export { answerPage as handler } from '../../shared/http/serve-page.ts';
