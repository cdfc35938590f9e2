import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { Collection, Db } from 'mongodb';
import { vi } from 'vitest';
import { JsonClient, SignedClient } from '../../../shared/persistence/aws-client.ts';

type Call = (this: unknown, ...given: unknown[]) => unknown;

const changes = {
  collection: [
    'bulkWrite',
    'createIndexes',
    'deleteMany',
    'deleteOne',
    'dropIndex',
    'findOneAndUpdate',
    'insertMany',
  ].concat(['insertOne', 'updateMany', 'updateOne']),
  db: ['createCollection', 'dropCollection', 'dropDatabase'],
};
const reads = {
  collection: ['aggregate', 'countDocuments', 'find', 'findOne', 'listIndexes'],
  db: ['command', 'listCollections'],
};

/** Read-only commands of table, files and queues. */
const readCommand = /^(Get|Head|List|Query|Receive|TransactGet|BatchGet)/;

/** The name of a command: its class in the SDK, otherwise the operation. */
const commandOf = ([command]: readonly unknown[]): string =>
  typeof command === 'string' ? command : ((command as object | undefined)?.constructor.name ?? '');

/** A run that stops before a change, as if its process was killed. */
export interface Killed {
  /** The change that was prevented; `undefined` if the run finished before. */
  readonly hit: () => string | undefined;
}

/**
 * Allows this many changes to databases, files, queues and mail provider until mocks are restored. Blocks the next
 * change and everything after it, including reads and clean-up.
 */
export const killAfter = (count: number): Killed => {
  let left = count;
  let hit: string | undefined;
  const pass = (what: string, isChange: boolean): boolean => {
    if (hit !== undefined) return false;
    if (!isChange || left-- > 0) return true;
    hit = what;
    return false;
  };
  const guard = (target: object, name: string, isChange: (given: readonly unknown[]) => boolean): void => {
    const methods = target as Record<string, Call>;
    const method = methods[name] as Call;
    vi.spyOn(methods, name).mockImplementation(function call(this: unknown, ...given: unknown[]) {
      const what = `${name} ${commandOf(given)}`;
      if (!pass(what, isChange(given))) throw new Error('killed');
      return method.apply(this, given);
    });
  };
  for (const name of changes.collection) guard(Collection.prototype, name, () => true);
  for (const name of changes.db) guard(Db.prototype, name, () => true);
  for (const name of reads.collection) guard(Collection.prototype, name, () => false);
  for (const name of reads.db) guard(Db.prototype, name, () => false);
  for (const { prototype } of [JsonClient, S3Client, SQSClient]) {
    guard(prototype, 'send', (given) => !readCommand.test(commandOf(given)));
  }
  // Requests of `JsonClient` were counted above.
  guard(SignedClient.prototype, 'request', ([request]) => {
    const { method, headers } = request as { method?: string; headers?: Readonly<Record<string, string>> };
    return method !== 'GET' && headers?.['x-amz-target'] === undefined;
  });
  guard(globalThis, 'fetch', () => true);
  return { hit: () => hit };
};
