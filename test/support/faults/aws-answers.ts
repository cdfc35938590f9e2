import { SQSClient } from '@aws-sdk/client-sqs';
import { vi } from 'vitest';
import { JsonClient, ServiceError } from '../../../shared/persistence/aws-client.ts';

/** A request to the table, a queue or the secrets: `UpdateItem` and its input. */
export interface Asked {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}

type Send = (asked: Asked) => Promise<unknown>;

/**
 * Until mocks are restored, `answer` handles this process's requests to the table and the secrets; `send` sends them
 * on. Returns the list of requests.
 */
export const answerForAws = (answer: (asked: Asked, send: Send) => unknown): Asked[] => {
  vi.stubEnv('AWS_REGION', process.env.AWS_REGION ?? 'eu-central-1');
  const all: Asked[] = [];
  const { send } = JsonClient.prototype as { send: (operation: string, input: object) => Promise<unknown> };
  const answered = async function (this: unknown, operation: string, input: object): Promise<unknown> {
    const asked = { operation, input: { ...input } };
    all.push(asked);
    return answer(asked, (again) => send.call(this, again.operation, again.input));
  };
  vi.spyOn(JsonClient.prototype, 'send').mockImplementation(answered as never);
  return all;
};

/**
 * Until mocks are restored, handles requests to the queues, which accept every message by default. Returns the list of
 * requests.
 */
export const answerForQueues = (answer: (asked: Asked) => object = () => ({})): Asked[] => {
  const all: Asked[] = [];
  const answered = async (command: { readonly input: object }): Promise<unknown> => {
    const asked = { operation: command.constructor.name.replace(/Command$/, ''), input: { ...command.input } };
    all.push(asked);
    return answer(asked);
  };
  vi.spyOn(SQSClient.prototype, 'send').mockImplementation(answered as never);
  return all;
};

/** An error response of the table, such as `ConditionalCheckFailedException`; `more` is added to its body. */
export const tableError = (code: string, more: object = {}): ServiceError => {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${code}`, message: 'Said by the test', ...more };
  return new ServiceError('Test', 400, 'request', JSON.stringify(body));
};

/** A cancelled transaction, with one code per part. */
export const cancelled = (...codes: readonly string[]): ServiceError =>
  tableError('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
