import type { MongoClient, MongoClientOptions } from 'mongodb';
import { log } from '../core/log.ts';
import { commandChannel, type DatabaseCommand } from './commands.ts';

const observe = (client: MongoClient): MongoClient =>
  client
    .on('commandStarted', ({ commandName, command }) =>
      commandChannel.publish({ system: 'mongodb', name: commandName, command } satisfies DatabaseCommand),
    )
    .on('commandSucceeded', ({ commandName, duration }) => log.debug({ mongodb: commandName, ms: duration }));

/** Makes a client whose commands are published where somebody listens, and told to the log of `LOG=debug`. */
export const monitored = (make: (settings: MongoClientOptions) => MongoClient): MongoClient => {
  const monitorCommands = commandChannel.hasSubscribers || log.isDebug();
  const client = make({ monitorCommands });
  return monitorCommands ? observe(client) : client;
};
