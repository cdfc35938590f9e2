/** What browsers ask for the console behind the dashboard API's gateway, in a deployment without CloudFront. */
export { answerPage as handler } from '../../shared/http/serve-page.ts';
