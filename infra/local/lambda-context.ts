import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

/** How long a deployed function may run: one second less than the gateway waits. */
export const functionTimeoutMs = 29_000;

/** The context of one invocation in this process; middleware puts its results on it. */
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

  /** Middy calls it without its object, so it is bound. */
  readonly getRemainingTimeInMillis = (): number => this.#deadline - Date.now();

  done(): void {}
  fail(): void {}
  succeed(): void {}
}
