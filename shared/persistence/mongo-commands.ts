import diagnostics from 'node:diagnostics_channel';
import type { MongoClient, MongoClientOptions } from 'mongodb';
import { log } from '../core/log.ts';
import { currentRequest } from '../core/request.ts';
import { deadline } from '../core/retry.ts';

export interface DatabaseCommand {
  readonly system: 'mongodb' | 'dynamodb' | 'secretsmanager' | 'sqs' | 's3' | 'lambda' | 'appsync';
  readonly name: string;
  /** Only for MongoDB. */
  readonly command?: Readonly<Record<string, unknown>>;
}

/** All commands to databases, queues and the file storage, so that tests can count them. */
export const commandChannel = diagnostics.channel('basalt:command');

export const publish = (command: DatabaseCommand): void => commandChannel.publish(command);

type Next = (args: never) => Promise<unknown>;

/** The common part of the AWS SDK's clients, whose types differ by their commands. */
interface Stack {
  add(
    middleware: (next: Next, context: { readonly commandName?: string }) => Next,
    options: { readonly step: 'initialize' | 'deserialize'; readonly name: string },
  ): void;
}

/**
 * Publishes the commands of an AWS SDK client. `initialize` publishes each call one time, `deserialize` each attempt
 * and no call that only signs a URL.
 */
export const publishCommands = <Client extends { readonly middlewareStack: object }>(
  client: Client,
  system: DatabaseCommand['system'],
  step: 'initialize' | 'deserialize' = 'initialize',
): Client => {
  if (commandChannel.hasSubscribers) {
    (client.middlewareStack as Stack).add(
      (next, { commandName: name = '' }) =>
        (args) => {
          publish({ system, name });
          return next(args);
        },
      { step, name: 'publishCommand' },
    );
  }
  return client;
};

/** Creates a MongoDB client whose commands are published, and logged with `LOG=debug`. */
export const monitored = (make: (settings: MongoClientOptions) => MongoClient): MongoClient => {
  const monitorCommands = commandChannel.hasSubscribers || log.isDebug();
  const client = make({ monitorCommands });
  if (!monitorCommands) return client;
  return client
    .on('commandStarted', ({ commandName: name, command }) => publish({ system: 'mongodb', name, command }))
    .on('commandSucceeded', ({ commandName, duration }) => log.debug({ mongodb: commandName, ms: duration }));
};

class Overdue extends Error {
  override readonly name = 'Overdue';
}

/** True for the error of `timed` when its limit was reached. */
export const isOverdue = (error: unknown): boolean => error instanceof Overdue;

/** A request may wait this long for a customer's systems; its function's timeout is longer. */
const ownLimitMs = 20_000;

/** Minimum time of a call after earlier failures: enough for a system that has recovered. */
const minMs = 250;

/**
 * Runs a call to another system, adds its time to the request's record and rejects after `limitMs`. Time lost in failed
 * calls reduces the limit of the request's next calls.
 */
export const timed = async <T>(limitMs: number, run: () => Promise<T>): Promise<T> => {
  const record = currentRequest.getStore();
  const leftMs = Math.max(minMs, limitMs - (record?.lostMs ?? 0));
  const start = performance.now();
  const overdue = Promise.withResolvers<never>();
  const callOff = deadline(leftMs, () => overdue.reject(new Overdue(`No response within ${Math.round(leftMs)} ms`)));
  try {
    return await Promise.race([run(), overdue.promise]);
  } catch (error) {
    if (record) record.lostMs = (record.lostMs ?? 0) + performance.now() - start;
    throw error;
  } finally {
    callOff();
    if (record) record.databaseMs += performance.now() - start;
  }
};

/** `timed` for a customer's systems, which must not bring a request near its function's timeout. */
export const timedCustomer = <T>(limitMs: number, run: () => Promise<T>): Promise<T> => {
  const startedAt = currentRequest.getStore()?.startedAt;
  const leftMs = startedAt === undefined ? limitMs : ownLimitMs - (performance.now() - startedAt);
  return timed(Math.min(limitMs, leftMs), run);
};
