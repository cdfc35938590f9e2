import { setTimeout as sleep } from 'node:timers/promises';
import { awsAddress, awsCredentials, awsRegion } from '../../core/config.ts';
import { type DatabaseCommand, publish } from '../commands.ts';
import { type Connections, connectionsTo, noAnswer, type TryLimits } from './post.ts';
import { Retries } from './retries.ts';
import { ServiceError } from './service-error.ts';
import { signedHeaders } from './signature.ts';

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
