import { createHmac, hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { awsAddress, awsCredentials, awsRegion } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { type Connections, connectionsTo, noAnswer, Retries, ServiceError, type TryLimits } from './aws-http.ts';
import { type DatabaseCommand, publish, timed } from './mongo-commands.ts';

/** What requests to AWS are signed with; a `sessionToken` where it is for a while only. */
interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Where a request goes: `host` with its port where that is not the usual one. */
interface Destination {
  readonly service: string;
  readonly region: string;
  /** POST where nothing is said. */
  readonly method?: 'GET' | 'PUT';
  readonly host: string;
  /** As it is sent, of characters that need no encoding; `/` where nothing is said. */
  readonly path?: string;
  readonly contentType?: string;
  /** Value of `x-amz-target`, of services that have one address for every operation. */
  readonly target?: string;
}

export type Headers = Readonly<Record<string, string>>;

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The key of one day, region and service; a process has those of one or two services. */
const keys = new Map<string, { readonly secret: string; readonly key: Buffer }>();

/** The key that a day, region and service are signed with. */
const keyFor = (secret: string, day: string, region: string, service: string): Buffer => {
  const known = keys.get(service);
  const name = `${secret} ${day} ${region}`;
  if (known?.secret === name) return known.key;
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), service), 'aws4_request');
  keys.set(service, { secret: name, key });
  return key;
};

/** The headers of a request, signed by Signature Version 4 over all of its body; `now` in ms since 1970. */
export const signedHeaders = (
  { service, region, method, host, path = '/', contentType, target }: Destination,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  body: string,
  now: number,
): Headers => {
  const date = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = date.slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const bodyHash = hash('sha256', body);
  // In the order of their names, as they are signed.
  const headers = {
    ...(contentType && { 'content-type': contentType }),
    host,
    ...(service === 's3' && { 'x-amz-content-sha256': bodyHash }),
    'x-amz-date': date,
    ...(sessionToken && { 'x-amz-security-token': sessionToken }),
    ...(target && { 'x-amz-target': target }),
  };
  const names = Object.keys(headers).join(';');
  let lines = '';
  for (const [name, value] of Object.entries(headers)) lines += `${name}:${value}\n`;
  const request = `${method ?? 'POST'}\n${path}\n\n${lines}\n${names}\n${bodyHash}`;
  const signature = createHmac('sha256', keyFor(secretAccessKey, day, region, service))
    .update(`AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', request)}`)
    .digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...headers, authorization };
};

/** The same without the host, which `fetch` names itself. */
export const signedForFetch = (...request: Parameters<typeof signedHeaders>): Headers => {
  const { host: _host, ...headers } = signedHeaders(...request);
  return headers;
};

/** A service that speaks JSON over one address. */
interface JsonService extends TryLimits {
  readonly service: DatabaseCommand['system'];
  /** Its name in `AWS_ENDPOINT_URL_…`, where that is another. */
  readonly endpoint?: string;
  /** What `x-amz-target` has before the operation: `DynamoDB_20120810`. */
  readonly version: string;
  /** The version of the protocol. */
  readonly json: '1.0' | '1.1';
  readonly maxTries: number;
}

/** Whatever a service says is JSON, or was damaged on its way. */
const parsed = (text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    throw noAnswer('EBADMSG', 'The answer is no JSON');
  }
};

/**
 * A client of one service of AWS, by region, address and credentials of the environment: one signed request a call, on
 * connections that are kept. It takes four tenths of the SDK's CPU and keeps its retries.
 */
export class JsonClient<Operations extends { readonly [K in keyof Operations]: { input: object; output: object } }> {
  readonly #service: JsonService;
  readonly #region = awsRegion();
  readonly #connections: Connections;
  readonly #retries: Retries;

  constructor(service: JsonService) {
    this.#service = service;
    this.#connections = connectionsTo(awsAddress(service.service, service.endpoint), service);
    this.#retries = new Retries(service.maxTries);
  }

  /** Answers one call; what the service refuses → `ServiceError`, no answer → an error with the `code` of Node. */
  async send<K extends keyof Operations & string>(
    operation: K,
    input: Operations[K]['input'],
  ): Promise<Operations[K]['output']> {
    publish({ system: this.#service.service, name: `${operation}Command` });
    const body = JSON.stringify(input);
    let spent: number | undefined;
    for (let tried = 1; ; tried++) {
      try {
        const output = await this.#try(operation, body);
        this.#retries.succeeded(spent);
        return output;
      } catch (error) {
        const retry = this.#retries.after(error, tried);
        if (!retry) throw error;
        spent = retry.cost;
        await sleep(retry.waitMs);
      }
    }
  }

  async #try(operation: string, body: string) {
    const { service, version, json } = this.#service;
    const { host, post } = this.#connections;
    const destination = {
      service,
      region: this.#region,
      host,
      contentType: `application/x-amz-json-${json}`,
      target: `${version}.${operation}`,
    };
    const answer = await post(signedHeaders(destination, awsCredentials(), body, Date.now()), body);
    if (answer.status !== 200) throw new ServiceError(operation, answer);
    return parsed(answer.text);
  }

  destroy(): void {
    this.#connections.close();
  }
}

/** The refusal where a part of the service does not answer: 503, with the cause for the log alone. */
export const serviceUnavailable = (cause: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The service is unavailable. Try again.', { cause });

/** Of clients whose calls are short: two tries, which together end within 4 s. */
export const shortTries = { maxTries: 2, connectMs: 1000, answerMs: 1500 };

/** Longest wait for one such call, its one retry included. */
export const shortCallMs = 4000;

/**
 * The one client of a service in this process, opened at its first call. `on` runs a call within `limitMs`, or a time
 * of its own: what `isDecision` says is an answer and no fault is thrown as it came, for the caller to read; everything
 * else becomes `SERVICE_UNAVAILABLE`. `close` ends its connections, so that scripts and tests can exit.
 */
export const serviceClient = <Client extends { destroy(): void }>(
  open: () => Client,
  limitMs = shortCallMs,
  isDecision = (_error: unknown): boolean => false,
) => {
  let client: Client | undefined;
  return {
    on: async <T>(call: (client: Client) => Promise<T>, withinMs = limitMs): Promise<T> => {
      client ??= open();
      const opened = client;
      try {
        return await timed(withinMs, () => call(opened));
      } catch (error) {
        throw isDecision(error) ? error : serviceUnavailable(error);
      }
    },
    close: (): void => {
      client?.destroy();
      client = undefined;
    },
  };
};
