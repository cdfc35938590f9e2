import { LambdaClient } from '@aws-sdk/client-lambda';
import { SignatureV4 } from '@smithy/signature-v4';
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

/** Asks a service of AWS with the credentials of the other clients; an error response throws. */
export const askAws = (
  { aws }: Pick<Target, 'aws'>,
  { service, contentType, target, body }: Question,
): Promise<string> =>
  asking(new LambdaClient(aws), async ({ config }) => {
    const region = await config.region();
    const { AWS_ENDPOINT_URL, [`AWS_ENDPOINT_URL_${service.toUpperCase()}`]: endpoint = AWS_ENDPOINT_URL } =
      process.env;
    const {
      href,
      host,
      protocol,
      hostname,
      pathname: path,
    } = new URL(endpoint ?? `https://${service}.${region}.amazonaws.com`);
    const { credentials, sha256 } = config;
    const signer = new SignatureV4({ service, region, credentials, sha256, applyChecksum: false });
    const headers = { host, 'content-type': contentType, ...(target !== undefined && { 'x-amz-target': target }) };
    const signed = await signer.sign({ method: 'POST', protocol, hostname, path, headers, body });
    const signal = AbortSignal.timeout(answerMs);
    const response = await fetch(href, { method: 'POST', headers: signed.headers, body, signal });
    const text = await response.text();
    if (response.ok) return text;
    const code = /<Code>([^<]+)|"__type":"(?:[^"#]*#)?([^"]+)"/.exec(text);
    throw new Error(`${service} responded with ${response.status} ${code?.[1] ?? code?.[2] ?? ''}`.trim());
  });
