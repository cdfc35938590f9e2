import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CommandError, type Terminal } from './terminal.ts';

/** Tokens by the address of the dashboard, so that none is sent to another address. */
type Tokens = Readonly<Record<string, string>>;

const configFolder = ({ env }: Pick<Terminal, 'env'>): string => {
  if (env.XDG_CONFIG_HOME) return env.XDG_CONFIG_HOME;
  const home = env.HOME || env.USERPROFILE || homedir();
  if (process.platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  return process.platform === 'darwin' ? join(home, 'Library', 'Application Support') : join(home, '.config');
};

/** The file that contains the tokens. */
export const credentialsFile = (terminal: Pick<Terminal, 'env'>): string =>
  join(configFolder(terminal), 'basalt', 'credentials.json');

const isTokens = (value: unknown): value is Tokens =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((token) => typeof token === 'string');

/** Returns no token if there is no file. */
export const readTokens = async (terminal: Pick<Terminal, 'env'>): Promise<Tokens> => {
  const file = credentialsFile(terminal);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    const tokens: unknown = JSON.parse(text);
    if (isTokens(tokens)) return tokens;
  } catch {
    // The error below names the file.
  }
  throw new CommandError(`${file} is damaged. Delete it and run basalt login.`);
};

/** Replaces the file in one step, so that an interrupted write leaves the old one. */
const writeTokens = async (terminal: Pick<Terminal, 'env'>, tokens: Tokens): Promise<void> => {
  const file = credentialsFile(terminal);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  try {
    await writeFile(next, `${JSON.stringify(tokens, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await chmod(next, 0o600);
    await rename(next, file);
  } finally {
    await rm(next, { force: true });
  }
};

export const storeToken = async (terminal: Terminal, url: string, token: string): Promise<void> =>
  writeTokens(terminal, { ...(await readTokens(terminal)), [url]: token });

/** Deletes the token; returns false if there was none. */
export const deleteToken = async (terminal: Terminal, url: string): Promise<boolean> => {
  const { [url]: token, ...others } = await readTokens(terminal);
  if (token === undefined) return false;
  if (Object.keys(others).length === 0) await rm(credentialsFile(terminal), { force: true });
  else await writeTokens(terminal, others);
  return true;
};
