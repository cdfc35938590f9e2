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

/** Commands of the table, the files and the queues that change nothing. */
const readCommand = /^(Get|Head|List|Query|Receive|TransactGet|BatchGet)/;

/** The name of a command, which the SDK has as a class; what else the call is of otherwise. */
const commandOf = ([command]: readonly unknown[]): string =>
  typeof command === 'string' ? command : ((command as object | undefined)?.constructor.name ?? '');

/** A run that ends, as its process was killed, when it is about to change something. */
export interface Killed {
  /** What it was about to do then; `undefined` where it came to its end before. */
  readonly hit: () => string | undefined;
}

/**
 * Lets a run make so many changes to databases, files, queues and the mail provider from now on, until mocks are
 * restored: the next one is never sent, and nothing is after it, no read either, and nothing that would tidy up.
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
  // What `JsonClient` sends was counted above.
  guard(SignedClient.prototype, 'request', ([request]) => {
    const { method, headers } = request as { method?: string; headers?: Readonly<Record<string, string>> };
    return method !== 'GET' && headers?.['x-amz-target'] === undefined;
  });
  guard(globalThis, 'fetch', () => true);
  return { hit: () => hit };
};
