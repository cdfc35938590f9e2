import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Context } from 'aws-lambda';
import { functionFiles, root } from '../build/function-files.ts';
import type { Invoke } from './gateway.ts';
import type { FunctionResult } from './response.ts';

/** The time limit of a deployed function: one second less than the gateway's. */
export const functionTimeoutMs = 29_000;

/** A Lambda context. Middleware stores its results on it. */
export class LambdaContext implements Context {
  callbackWaitsForEmptyEventLoop = true;
  readonly functionName: string;
  readonly functionVersion = '$LATEST';
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB = '512';
  readonly logGroupName = 'local';
  readonly logStreamName = 'local';
  readonly #deadline = Date.now() + functionTimeoutMs;
  #requestId: string | undefined;

  constructor(functionName: string) {
    this.functionName = functionName;
    this.invokedFunctionArn = functionName;
  }

  get awsRequestId(): string {
    this.#requestId ??= randomUUID();
    return this.#requestId;
  }

  /** Bound, because Middy calls it without its object. */
  readonly getRemainingTimeInMillis = (): number => this.#deadline - Date.now();

  done(): void {}
  fail(): void {}
  succeed(): void {}
}

type Handler = (event: unknown, context: LambdaContext) => Promise<FunctionResult>;

const load = async (file: string): Promise<Handler> => {
  const module: unknown = await import(pathToFileURL(path.join(root, file)).href);
  const { handler } = module as { readonly handler?: unknown };
  if (typeof handler !== 'function') throw new Error(`${file} exports no handler`);
  return handler as Handler;
};

/** Runs the functions in this process and imports each on its first request. */
export const inProcess = (): Invoke => {
  const files = new Map(functionFiles().map(({ name, file }) => [name, file]));
  const loaded = new Map<string, Handler>();
  const find = async (name: string): Promise<Handler> => {
    const file = files.get(name);
    if (file === undefined) throw new Error(`There is no function ${name}`);
    const handler = await load(file);
    loaded.set(name, handler);
    return handler;
  };
  return async (name, event) => (loaded.get(name) ?? (await find(name)))(event, new LambdaContext(name));
};
