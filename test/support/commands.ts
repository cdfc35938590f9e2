import { commandChannel, type DatabaseCommand } from '../../shared/clients/commands.ts';

/** Commands that keep a connection alive and say nothing about a request. */
const housekeeping = new Set(['hello', 'ismaster', 'ping', 'endSessions', 'saslStart', 'saslContinue']);

let recorded: DatabaseCommand[] | undefined;

/** Call before the first client of the process is made: clients only report where somebody listens. */
export const listenToCommands = (): void =>
  commandChannel.subscribe((message) => {
    const command = message as DatabaseCommand;
    if (!housekeeping.has(command.name)) recorded?.push(command);
  });

/** The database commands that `act` makes this process send: `mongodb find`, `dynamodb UpdateItemCommand`. */
export const commandsOf = async (act: () => Promise<unknown>): Promise<string[]> => {
  recorded = [];
  try {
    await act();
    return recorded.map(({ system, name }) => `${system} ${name}`).sort();
  } finally {
    recorded = undefined;
  }
};
