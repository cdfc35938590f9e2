import { SQSClient } from '@aws-sdk/client-sqs';
import { vi } from 'vitest';
import { JsonClient, ServiceError } from '../../../shared/persistence/aws-client.ts';

/** Something that the table, a queue or the secrets are asked: `UpdateItem`, and its input. */
export interface Asked {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
}

type Send = (asked: Asked) => Promise<unknown>;

/**
 * From now on, until mocks are restored, `answer` answers what this process asks of the table or the secrets; `send` asks them themselves. What was asked so far is in the array that comes back.
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
 * The same for what this process asks of the queues, which take every message unless said otherwise. In the array is
 * what was asked of them.
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

/** An error response of the table by its code, such as `ConditionalCheckFailedException`; `more` is added to its body. */
export const tableError = (code: string, more: object = {}): ServiceError => {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${code}`, message: 'Said by the test', ...more };
  return new ServiceError('Test', 400, 'request', JSON.stringify(body));
};

/** A transaction that was cancelled; one code for each of its parts. */
export const cancelled = (...codes: readonly string[]): ServiceError =>
  tableError('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
