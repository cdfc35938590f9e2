import { parseArgs } from 'node:util';
import { type Command, commands } from './commands.ts';
import { CommandError, type Terminal } from './terminal.ts';
import { version } from './version.ts';

const commonOptions = {
  url: { type: 'string', value: 'URL', about: 'the address of the dashboard' },
  project: { type: 'string', value: 'ID', about: 'the project, instead of the linked one' },
  json: { type: 'boolean', about: 'one JSON object as result' },
  help: { type: 'boolean', short: 'h', about: 'this text' },
} as const;

const optionsOf = ({ options }: Command) => ({ ...options, ...commonOptions });

const overview = (): string => {
  const width = Math.max(...Object.values(commands).map(({ usage }) => usage.length));
  const lines = Object.values(commands).map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
  return `Usage: basalt <command> [options]

${lines.join('\n')}

basalt <command> --help explains a command; basalt --version prints the version.
Exit codes: 0 success, 1 a difference or rejected lines, 2 an error.
`;
};

const helpOf = (command: Command): string => {
  const rows = Object.entries(optionsOf(command)).map(([name, { about, ...option }]) => {
    const value = 'value' in option ? ` ${option.value}` : '';
    return [`--${name}${value}`, about] as const;
  });
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`);
  return `Usage: basalt ${command.usage} [options]\n\n${command.about}\n\n${lines.join('\n')}\n`;
};

const parse = (command: Command, args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options: optionsOf(command), allowPositionals: true, strict: true });
  } catch (error) {
    const [message] = (error as Error).message.split('. ', 1);
    throw new CommandError(`${message}. Run basalt ${command.usage.split(' ', 1)[0]} --help.`);
  }
};

const execute = async (terminal: Terminal, args: readonly string[]): Promise<number> => {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.print(overview());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    terminal.print(`${version()}\n`);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new CommandError(`basalt has no command ${name}. Run basalt --help.`);
  const { values, positionals } = parse(command, rest);
  if (values.help) {
    terminal.print(helpOf(command));
    return 0;
  }
  const [, ...named] = command.usage.split(' ');
  const required = named.filter((word) => !word.startsWith('['));
  if (positionals.length < required.length || positionals.length > named.length)
    throw new CommandError(`Usage: basalt ${command.usage}`);
  return command.run(terminal, values, positionals);
};

/** Runs a command and returns its exit code. */
export const run = async (terminal: Terminal, args: readonly string[]): Promise<number> => {
  try {
    return await execute(terminal, args);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (args.includes('--json')) {
      const { message, code } = error;
      terminal.print(`${JSON.stringify({ error: { message, ...(code !== undefined && { code }) } })}\n`);
    } else terminal.note(`basalt: ${error.message}`);
    return 2;
  }
};
