import { crc32 } from 'node:zlib';
import { HttpRequest } from '@smithy/core/protocols';
import { isThrottlingError, isTransientError, StandardRetryStrategy } from '@smithy/core/retry';
import { Hash } from '@smithy/core/serde';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { awsAddress, awsCredentials, awsRegion } from '../core/config.ts';
import { boundedText, cutText } from '../core/text.ts';
import { type DatabaseCommand, publish } from './mongo-commands.ts';

type Limits = Readonly<Record<'maxTries' | 'connectMs' | 'answerMs', number>>;

interface SignedRequest<T> {
  readonly operation: string;
  readonly method?: 'GET' | 'PUT';
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly parse: (text: string) => T;
}

const maxAnswerBytes = 8 * 1024 * 1024;

/** An error response of AWS. `name` is its code, such as `ThrottlingException`; `answer` is its JSON body. */
export class ServiceError extends Error {
  override readonly name: string;
  readonly $metadata: { readonly httpStatusCode: number };
  readonly answer: Readonly<Record<string, unknown>>;

  constructor(operation: string, status: number, requestId: string | undefined, text: string) {
    const answer = text.startsWith('{') ? JSON.parse(text) : {};
    // The lines after the first quote the request and its credentials.
    const [message = ''] = String(answer.message ?? answer.Message ?? '').split('\n', 1);
    super(`${operation}, ${status}, ${requestId}: ${cutText(message, 300)}`);
    this.name = /[^#:]+(?=:|$)/.exec(String(answer.__type ?? ''))?.[0] ?? 'ServiceError';
    this.$metadata = { httpStatusCode: status };
    this.answer = answer;
  }
}

/** Sends signed requests to one AWS service, over kept connections and with the SDK's standard retries. */
export class SignedClient {
  readonly #url: URL;
  readonly #signer: SignatureV4;
  readonly #http: NodeHttpHandler;
  readonly #retries: StandardRetryStrategy;

  constructor(service: string, { maxTries, connectMs, answerMs }: Limits, address = awsAddress(service)) {
    this.#url = new URL(address);
    const identity = { service, region: awsRegion(), credentials: async () => awsCredentials() };
    const hashing = { sha256: Hash.bind(null, 'sha256'), applyChecksum: service === 's3' };
    this.#signer = new SignatureV4({ ...identity, ...hashing, uriEscapePath: service !== 's3' });
    const limits = { connectionTimeout: connectMs, requestTimeout: answerMs, socketTimeout: answerMs };
    this.#http = new NodeHttpHandler({ ...limits, throwOnRequestTimeout: true });
    this.#retries = new StandardRetryStrategy(maxTries);
  }

  async request<T>({ operation, headers, parse, ...rest }: SignedRequest<T>): Promise<T> {
    const { protocol, hostname, port, host } = this.#url;
    const destination = { protocol, hostname, ...(port !== '' && { port: Number(port) }) };
    const request = new HttpRequest({ method: 'POST', ...destination, ...rest, headers: { host, ...headers } });
    let token = await this.#retries.acquireInitialRetryToken('');
    for (;;) {
      try {
        const answer = await this.#attempt(operation, request, parse);
        this.#retries.recordSuccess(token);
        return answer;
      } catch (thrown) {
        const error = thrown as Parameters<typeof isTransientError>[0];
        if (!isTransientError(error) && !isThrottlingError(error)) throw error;
        const errorType = isThrottlingError(error) ? 'THROTTLING' : 'TRANSIENT';
        const again = this.#retries.refreshRetryTokenForRetry(token, { errorType, error });
        token = await again.catch(() => Promise.reject(error));
      }
    }
  }

  async #attempt<T>(operation: string, request: HttpRequest, parse: (text: string) => T): Promise<T> {
    const { response } = await this.#http.handle((await this.#signer.sign(request)) as HttpRequest);
    const { 'x-amz-crc32': checksum, 'x-amzn-requestid': requestId } = response.headers;
    const text = await boundedText(response.body, maxAnswerBytes);
    if (text === undefined) throw Object.assign(new Error('The response is too large'), { code: 'EMSGSIZE' });
    try {
      if (checksum !== undefined && Number(checksum) !== crc32(text)) throw new Error('The checksum differs');
      if (response.statusCode >= 300) throw new ServiceError(operation, response.statusCode, requestId, text);
      return parse(text);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw Object.assign(new Error('The response is damaged'), { code: 'EBADMSG', $retryable: {}, cause: error });
    }
  }

  destroy(): void {
    this.#http.destroy();
  }
}

/** A service that speaks JSON and takes the operation from `x-amz-target`: `DynamoDB_20120810.GetItem`. */
interface JsonService extends Limits {
  readonly service: DatabaseCommand['system'];
  readonly endpoint?: string;
  readonly target: string;
  readonly json: '1.0' | '1.1';
}

export class JsonClient<T extends { readonly [K in keyof T]: { input: object; output: object } }> extends SignedClient {
  readonly #service: JsonService;

  constructor(service: JsonService) {
    super(service.service, service, awsAddress(service.service, service.endpoint));
    this.#service = service;
  }

  send<K extends keyof T & string>(operation: K, input: T[K]['input']): Promise<T[K]['output']> {
    const { service: system, target, json } = this.#service;
    publish({ system, name: `${operation}Command` });
    const headers = { 'content-type': `application/x-amz-json-${json}`, 'x-amz-target': `${target}.${operation}` };
    return this.request({ operation, headers, body: JSON.stringify(input), parse: JSON.parse });
  }
}
