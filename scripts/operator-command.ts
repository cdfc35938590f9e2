import { runningEnvironment } from '../infra/local/state-files.ts';
import { closeMongo } from '../shared/persistence/mongo.ts';
import { exitWithUsage, readArguments } from './read-arguments.ts';

interface OperatorCommand<T> {
  readonly usage: string;
  /** Returns the checked arguments, or a text that says what is wrong with them. */
  readonly parse: (positionals: readonly string[]) => T | string;
  /** Returns the line to print. */
  readonly run: (input: T) => Promise<string>;
}

/** Selects the database: the one of `MONGODB_URI`, or with `--local` the one of the service that runs on this machine. */
const selectDatabase = async (local: boolean, usage: string): Promise<void> => {
  if (local) Object.assign(process.env, await runningEnvironment(process.env.BASALT_DIR || '.basalt'));
  else if (!process.env.MONGODB_URI && !process.env.MONGODB_SECRET_ARN) {
    exitWithUsage(
      `MONGODB_URI is not set. Set it, or add --local for the service that npm start runs on this machine.\n${usage}`,
    );
  }
};

/** Runs a command on the control database. The exit code is 2 for wrong arguments and 1 for a failure. */
export const runOperatorCommand = async <T extends object>({
  usage,
  parse,
  run,
}: OperatorCommand<T>): Promise<void> => {
  const { values, positionals } = readArguments(usage, {
    allowPositionals: true,
    options: { local: { type: 'boolean', default: false } },
  });
  const input = parse(positionals);
  if (typeof input === 'string') return exitWithUsage(`${input}\n${usage}`);
  try {
    await selectDatabase(values.local, usage);
    console.log(await run(input));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    await closeMongo();
  }
};
