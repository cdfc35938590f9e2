import diagnostics from 'node:diagnostics_channel';
import type { MongoClient, MongoClientOptions } from 'mongodb';
import { log } from '../core/log.ts';

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
