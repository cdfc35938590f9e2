import { type ParseArgsConfig, parseArgs } from 'node:util';
import { refuse } from './refuse.ts';

/** The arguments of a command; any that it does not know → it ends with what it takes, and exit code 2. */
export const readArguments = <const T extends ParseArgsConfig>(usage: string, config: T) => {
  try {
    return parseArgs(config);
  } catch (error) {
    const [said = ''] = (error instanceof Error ? error.message : String(error)).split('. To specify ', 1);
    return refuse(`${said}\n${usage}`);
  }
};
