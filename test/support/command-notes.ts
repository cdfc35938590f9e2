import { commandChannel, type DatabaseCommand } from '../../shared/persistence/mongo-commands.ts';

/** Commands that belong to the connection, not to a request. */
const housekeeping = new Set(['hello', 'ismaster', 'ping', 'endSessions', 'saslStart', 'saslContinue']);

let noted: DatabaseCommand[] | undefined;

/** Must be called before the first database client is created, because clients only report to existing listeners. */
export const listenToCommands = (): void =>
  commandChannel.subscribe((message) => {
    const command = message as DatabaseCommand;
    if (!housekeeping.has(command.name)) noted?.push(command);
  });

/** Returns the database commands since the last call, such as `mongodb find` and `dynamodb UpdateItemCommand`. */
export const takeCommands = (): string[] => {
  const taken = (noted ?? []).map(({ system, name }) => `${system} ${name}`).sort();
  noted = [];
  return taken;
};

/** Returns the database commands that this process sends during `act`. */
export const commandsOf = async (act: () => Promise<unknown>): Promise<string[]> => {
  takeCommands();
  try {
    await act();
    return takeCommands();
  } finally {
    noted = undefined;
  }
};
