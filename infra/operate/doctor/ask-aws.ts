import { LambdaClient } from '@aws-sdk/client-lambda';
import { SignatureV4 } from '@smithy/signature-v4';
import { asking } from './asking.ts';
import type { Target } from './check.ts';

const answerMs = 10_000;

/** A request to a service for which the repository has no client. */
interface Question {
  /** Its name in signatures and addresses, such as `sns`. */
  readonly service: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * What a service of AWS answers to a question signed with the credentials that its other clients use; a refusal throws.
 */
export const askAws = (target: Pick<Target, 'aws'>, { service, headers, body }: Question): Promise<string> =>
  asking(new LambdaClient(target.aws), async ({ config }) => {
    const region = await config.region();
    const { AWS_ENDPOINT_URL, [`AWS_ENDPOINT_URL_${service.toUpperCase()}`]: endpoint = AWS_ENDPOINT_URL } =
      process.env;
    const url = new URL(endpoint ?? `https://${service}.${region}.amazonaws.com`);
    const signer = new SignatureV4({ service, region, credentials: config.credentials, sha256: config.sha256 });
    const request = {
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: '/',
      headers: { ...headers, host: url.host },
    };
    const signed = await signer.sign({ ...request, body });
    const signal = AbortSignal.timeout(answerMs);
    const response = await fetch(url.href, { method: 'POST', headers: signed.headers, body, signal });
    const text = await response.text();
    if (response.ok) return text;
    const code = /<Code>([^<]+)|"__type":"(?:[^"#]*#)?([^"]+)"/.exec(text);
    throw new Error(`${service} answered ${response.status} ${code?.[1] ?? code?.[2] ?? ''}`.trim());
  });
