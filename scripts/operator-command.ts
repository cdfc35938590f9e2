import { closeMongo } from '../shared/persistence/mongo.ts';
import { chooseDatabase } from './choose-database.ts';
import { readArguments } from './read-arguments.ts';
import { refuse } from './refuse.ts';

/** What an operator may type, and what is done: the line that `run` returns is printed. */
interface OperatorCommand<T> {
  readonly usage: string;
  /** The arguments, checked; `undefined` shows the usage. */
  readonly read: (positionals: readonly string[]) => T | undefined;
  readonly run: (input: T) => Promise<string>;
}

/** Runs a command on the control database; exit code 2 for wrong arguments, 1 for a failure. */
export const runOperatorCommand = async <T>({ usage, read, run }: OperatorCommand<T>): Promise<void> => {
  const { values, positionals } = readArguments(usage, {
    allowPositionals: true,
    options: { local: { type: 'boolean', default: false } },
  });
  const input = read(positionals) ?? refuse(usage);
  try {
    await chooseDatabase(values.local, usage);
    console.log(await run(input));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    await closeMongo();
  }
};
