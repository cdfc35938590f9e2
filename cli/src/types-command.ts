import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getProject, openProject, type Place, type ProjectRecord } from './linked-project.ts';
import { CommandError, type Terminal } from './terminal.ts';

interface TypesOptions extends Place {
  readonly json?: boolean | undefined;
  readonly watch?: boolean | undefined;
  readonly every?: string | undefined;
}

/** Below the rate limit of a deployment, 100 requests in 15 minutes. */
const defaultSeconds = 15;

interface Types {
  readonly text: string;
  readonly etag: string;
}

/** Loads the types that the publishable key sees; `undefined` if they are as before. */
const loadTypes = async ({ apiUrl, publishableKey }: ProjectRecord, before = ''): Promise<Types | undefined> => {
  const headers = { 'x-api-key': publishableKey, ...(before && { 'if-none-match': before }) };
  let response: Response;
  try {
    response = await fetch(`${apiUrl}/api/types.ts`, { headers });
  } catch (error) {
    throw new CommandError(`${apiUrl} cannot be reached: ${(error as Error).message}`);
  }
  if (response.status === 304) return undefined;
  const text = await response.text();
  if (response.ok) return { text, etag: response.headers.get('etag') ?? '' };
  throw new CommandError(`${apiUrl} responded with status ${response.status}: ${text}`);
};

const writeIfChanged = async (path: string, text: string): Promise<boolean> => {
  const before = await readFile(path, 'utf8').catch(() => undefined);
  if (before === text) return false;
  await writeFile(path, text);
  return true;
};

const secondsOf = (every: string | undefined): number => {
  if (every === undefined) return defaultSeconds;
  if (/^[1-9]\d{0,4}$/.test(every)) return Number(every);
  throw new CommandError('--every must be a number of seconds from 1 to 99999.');
};

/** Keeps the file until the developer interrupts it. Failures are shown, and the next round tries again. */
const watch = async (terminal: Terminal, project: ProjectRecord, path: string, first: string, seconds: number) => {
  let etag = first;
  const signal = terminal.onInterrupt();
  for (;;) {
    try {
      await pause(seconds * 1000, undefined, { signal });
      const types = await loadTypes(project, etag);
      if (!types) continue;
      etag = types.etag;
      if (await writeIfChanged(path, types.text)) terminal.print(`Wrote ${path}.\n`);
    } catch (error) {
      if (signal.aborted) return;
      terminal.note((error as Error).message);
    }
  }
};

export const types = async (terminal: Terminal, options: TypesOptions, name = 'schema.ts'): Promise<number> => {
  const seconds = secondsOf(options.every);
  const project = await getProject(await openProject(terminal, options));
  const path = resolve(terminal.folder, name);
  const loaded = await loadTypes(project);
  if (!loaded) throw new CommandError(`${project.apiUrl} returned no types.`);
  const isChanged = await writeIfChanged(path, loaded.text);
  if (options.json) terminal.print(`${JSON.stringify({ file: name, changed: isChanged })}\n`);
  else terminal.print(isChanged ? `Wrote ${name}.\n` : `${name} is up to date.\n`);
  if (options.watch) await watch(terminal, project, path, loaded.etag, seconds);
  return 0;
};
