import { LambdaClient } from '@aws-sdk/client-lambda';
import { signedForFetch } from '../../../shared/persistence/aws-client.ts';
import { asking } from './asking.ts';
import type { Target } from './check.ts';

const answerMs = 10_000;

/** A request to a service for which the repository has no client. */
interface Question {
  /** Its name in signatures and addresses, such as `sns`. */
  readonly service: string;
  readonly contentType: string;
  /** Value of `x-amz-target`, of services that have one address for every operation. */
  readonly target?: string;
  readonly body: string;
}

/**
 * What a service of AWS answers to a question signed with the credentials that its other clients use; a refusal throws.
 */
export const askAws = ({ aws }: Pick<Target, 'aws'>, { body, ...question }: Question): Promise<string> =>
  asking(new LambdaClient(aws), async ({ config }) => {
    const { service } = question;
    const region = await config.region();
    const { AWS_ENDPOINT_URL, [`AWS_ENDPOINT_URL_${service.toUpperCase()}`]: endpoint = AWS_ENDPOINT_URL } =
      process.env;
    const url = new URL(endpoint ?? `https://${service}.${region}.amazonaws.com`);
    const destination = { ...question, region, host: url.host };
    const headers = signedForFetch(destination, await config.credentials(), body, Date.now());
    const signal = AbortSignal.timeout(answerMs);
    const response = await fetch(url.href, { method: 'POST', headers, body, signal });
    const text = await response.text();
    if (response.ok) return text;
    const code = /<Code>([^<]+)|"__type":"(?:[^"#]*#)?([^"]+)"/.exec(text);
    throw new Error(`${service} answered ${response.status} ${code?.[1] ?? code?.[2] ?? ''}`.trim());
  });
