import { LambdaClient } from '@aws-sdk/client-lambda';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Target } from './check.ts';

const timeoutMs = 10_000;

/** Uses an AWS client and closes it afterwards. */
export const withClient = async <C extends { destroy(): void }, T>(
  client: C,
  use: (client: C) => Promise<T>,
): Promise<T> => {
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
};

interface AwsRequest {
  /** The service as its signatures and host name spell it, such as `sns`. */
  readonly service: string;
  readonly contentType: string;
  /** Value of `x-amz-target`, for services with one address for all operations. */
  readonly target?: string;
  readonly body: string;
}

/**
 * Sends a signed request to a service for which no SDK client is installed, and returns the response text. Region and
 * credentials are found as the Lambda client finds them. Throws the AWS error code.
 */
export const requestAws = (
  { aws }: Pick<Target, 'aws'>,
  { service, contentType, target, body }: AwsRequest,
): Promise<string> =>
  withClient(new LambdaClient(aws), async ({ config }) => {
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
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(href, { method: 'POST', headers: signed.headers, body, signal });
    const text = await response.text();
    if (response.ok) return text;
    const code = /<Code>([^<]+)|"__type":"(?:[^"#]*#)?([^"]+)"/.exec(text);
    throw new Error(`${service} responded with ${response.status} ${code?.[1] ?? code?.[2] ?? ''}`.trim());
  });
