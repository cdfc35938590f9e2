import diagnostics from 'node:diagnostics_channel';
import type { MongoClient, MongoClientOptions } from 'mongodb';
import { currentRequest, log } from '../core/log.ts';
import { deadline } from '../core/retry.ts';

/** A command that a client sent, as published on `commandChannel`. */
export interface DatabaseCommand {
  readonly system: 'mongodb' | 'dynamodb' | 'secretsmanager' | 'sqs' | 's3' | 'lambda' | 'appsync';
  readonly name: string;
  /** The driver's command document, MongoDB only. */
  readonly command?: Readonly<Record<string, unknown>>;
}

/** Every command to databases, queues and the file storage is published here, so that tests can count them. */
export const commandChannel = diagnostics.channel('basalt:command');

/** Publishes a command where somebody listens. */
export const publish = (command: DatabaseCommand): void => commandChannel.publish(command);

type Next = (args: never) => Promise<unknown>;

/** What all clients of the AWS SDK share, whose own types differ by the commands they know. */
interface Stack {
  add(
    middleware: (next: Next, context: { readonly commandName?: string }) => Next,
    options: { readonly step: 'initialize' | 'deserialize'; readonly name: string },
  ): void;
}

/**
 * Publishes the commands that a client of the AWS SDK sends where somebody listens, and returns the client.
 * `initialize` publishes each call once, `deserialize` each attempt, and never a call that only signs a URL.
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

/** Makes a client of MongoDB whose commands are published where somebody listens, and logged with `LOG=debug`. */
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

/** True for the error `timed` rejects with when the outside system did not answer in time. */
export const isOverdue = (error: unknown): boolean => error instanceof Overdue;

/** How long after its beginning a request waits for what is a project's own: its function has some time more. */
const ownLimitMs = 20_000;

/** Minimum time for a call when earlier failures used up the limit: enough if the system has recovered. */
const minMs = 250;

/**
 * Runs one call to an outside system: adds its time to the request's record and gives up after `limitMs`, so that a
 * system that hangs costs the caller a bounded time. What failed calls have cost a request is taken off the limit of
 * its next ones, such as those that tidy up.
 */
export const timed = async <T>(limitMs: number, run: () => Promise<T>): Promise<T> => {
  const record = currentRequest.getStore();
  const leftMs = Math.max(minMs, limitMs - (record?.lostMs ?? 0));
  const start = performance.now();
  const overdue = Promise.withResolvers<never>();
  const callOff = deadline(leftMs, () => overdue.reject(new Overdue(`No answer within ${Math.round(leftMs)} ms`)));
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

/** The same for what is a project's own, which cannot bring a request near the end of its function's time. */
export const timedCustomer = <T>(limitMs: number, run: () => Promise<T>): Promise<T> => {
  const startedAt = currentRequest.getStore()?.startedAt;
  const leftMs = startedAt === undefined ? limitMs : ownLimitMs - (performance.now() - startedAt);
  return timed(Math.min(limitMs, leftMs), run);
};
