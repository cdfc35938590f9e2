import { commandChannel, type DatabaseCommand } from '../../shared/persistence/mongo-commands.ts';

/** Commands that keep a connection alive and say nothing about a request. */
const housekeeping = new Set(['hello', 'ismaster', 'ping', 'endSessions', 'saslStart', 'saslContinue']);

let noted: DatabaseCommand[] | undefined;

/** Call before the first client of the process is made: clients only report where somebody listens. */
export const listenToCommands = (): void =>
  commandChannel.subscribe((message) => {
    const command = message as DatabaseCommand;
    if (!housekeeping.has(command.name)) noted?.push(command);
  });

/**
 * The database commands that this process has sent since it was last asked: `mongodb find`, `dynamodb
 * UpdateItemCommand`.
 */
export const takeCommands = (): string[] => {
  const taken = (noted ?? []).map(({ system, name }) => `${system} ${name}`).sort();
  noted = [];
  return taken;
};

/** The database commands that `act` makes this process send. */
export const commandsOf = async (act: () => Promise<unknown>): Promise<string[]> => {
  takeCommands();
  try {
    await act();
    return takeCommands();
  } finally {
    noted = undefined;
  }
};
