import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Ends a command that was called wrongly, with exit code 2. */
export const exitWithUsage = (message: string): never => {
  console.error(message);
  process.exit(2);
};

/** Prints the usage and ends the process if `--help` or `-h` is given. */
export const showHelp = (usage: string, args: readonly string[]): void => {
  if (!args.includes('--help') && !args.includes('-h')) return;
  console.log(usage);
  process.exit(0);
};

/** Parses the arguments of a command, by default those of this process. Handles `--help` and unknown options. */
export const readArguments = <const T extends ParseArgsConfig>(usage: string, config: T) => {
  showHelp(usage, config.args ?? process.argv.slice(2));
  try {
    return parseArgs(config);
  } catch (error) {
    const [problem = ''] = (error instanceof Error ? error.message : String(error)).split('. To specify ', 1);
    return exitWithUsage(`${problem}\n${usage}`);
  }
};
