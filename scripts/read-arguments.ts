import { type ParseArgsConfig, parseArgs } from 'node:util';
import { refuse } from './refuse.ts';

/** Whether a command is asked what it does; it then says so and ends, before it does anything. */
export const showHelp = (usage: string, args: readonly string[]): void => {
  if (!args.includes('--help') && !args.includes('-h')) return;
  console.log(usage);
  process.exit(0);
};

/**
 * The arguments of a command, by default those of this process. `--help` → the usage, and the end; any that it does not
 * know → it ends with what it takes, and exit code 2.
 */
export const readArguments = <const T extends ParseArgsConfig>(usage: string, config: T) => {
  showHelp(usage, config.args ?? process.argv.slice(2));
  try {
    return parseArgs(config);
  } catch (error) {
    const [said = ''] = (error instanceof Error ? error.message : String(error)).split('. To specify ', 1);
    return refuse(`${said}\n${usage}`);
  }
};
