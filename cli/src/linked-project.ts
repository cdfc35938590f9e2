import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readTokens } from './credentials.ts';
import { Dashboard } from './dashboard.ts';
import { CommandError, type Terminal } from './terminal.ts';

/** The file that links a folder to a project. It contains no secret. */
export const configName = 'basalt.config.json';

export interface Config {
  readonly url: string;
  readonly projectId: string;
}

/** Options that every command takes. */
export interface Place {
  readonly url?: string | undefined;
  readonly project?: string | undefined;
}

/** The part of a project record that commands use. */
export interface ProjectRecord {
  readonly _id: string;
  readonly name: string;
  readonly apiUrl: string;
  readonly publishableKey: string;
  readonly [setting: string]: unknown;
}

const isId = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{24}$/.test(text);

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Returns the address without a slash at its end. Throws unless it is https, or http on this machine. */
export const parseUrl = (text: string, where: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback.has(url.hostname));
  if (url && isSafe && url.username === '' && url.search === '' && url.hash === '') {
    return url.href.replace(/\/+$/, '');
  }
  throw new CommandError(`${where} must be the https address of the dashboard, such as https://console.example.com.`);
};

const parseConfig = (text: string): Config => {
  let value: Partial<Record<keyof Config, unknown>> | null;
  try {
    value = JSON.parse(text) as Partial<Record<keyof Config, unknown>> | null;
  } catch {
    throw new CommandError(`${configName} is not valid JSON. Correct it, or run basalt link <id>.`);
  }
  if (typeof value?.url !== 'string' || !isId(value.projectId)) {
    throw new CommandError(`${configName} needs url and projectId. Run basalt link <id>.`);
  }
  return { url: parseUrl(value.url, `url in ${configName}`), projectId: value.projectId };
};

export const readConfig = async ({ folder }: Pick<Terminal, 'folder'>): Promise<Config | undefined> => {
  try {
    return parseConfig(await readFile(join(folder, configName), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

export const writeConfig = ({ folder }: Pick<Terminal, 'folder'>, config: Config): Promise<void> =>
  writeFile(join(folder, configName), `${JSON.stringify(config, undefined, 2)}\n`);

/** Returns the dashboard's address: of `--url`, of the linked project, or the only one with a stored token. */
export const findUrl = async (terminal: Terminal, { url }: Place): Promise<string> => {
  if (url !== undefined) return parseUrl(url, '--url');
  const config = await readConfig(terminal);
  if (config) return config.url;
  const [only, ...others] = Object.keys(await readTokens(terminal));
  if (only !== undefined && others.length === 0) return only;
  throw new CommandError(
    'The address of the dashboard is missing. Add --url, such as --url https://console.example.com.',
  );
};

const missingToken = (url: string): CommandError =>
  new CommandError(`You are not signed in to ${url}. Run basalt login, or set BASALT_TOKEN.`);

/** Connects with `BASALT_TOKEN`, or with the stored token of this address. */
export const openDashboard = async (terminal: Terminal, place: Place): Promise<Dashboard> => {
  const url = await findUrl(terminal, place);
  const token = terminal.env.BASALT_TOKEN?.trim() || (await readTokens(terminal))[url];
  if (!token) throw missingToken(url);
  return new Dashboard(url, token);
};

/** A project and the dashboard that manages it. */
export interface Linked {
  readonly dashboard: Dashboard;
  readonly projectId: string;
  /** The path of the project's routes. */
  readonly path: string;
}

/** Returns the project of `--project`, or the linked one. */
export const openProject = async (terminal: Terminal, place: Place): Promise<Linked> => {
  const projectId = place.project ?? (await readConfig(terminal))?.projectId;
  if (projectId === undefined) {
    throw new CommandError(
      'This folder is not linked to a project. Run basalt init <name> or basalt link <id>, or add --project.',
    );
  }
  if (!isId(projectId))
    throw new CommandError(`${projectId} is not the id of a project. An id has 24 hexadecimal digits.`);
  return { dashboard: await openDashboard(terminal, place), projectId, path: `/api/projects/${projectId}` };
};

export const getProject = ({ dashboard, path }: Linked): Promise<ProjectRecord> => dashboard.get<ProjectRecord>(path);
