import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { getProject, openProject, type Place, type ProjectRecord } from './linked-project.ts';
import { CommandError, type Terminal } from './terminal.ts';
import { repeat, secondsOf } from './watch.ts';

interface TypesOptions extends Place {
  readonly json?: boolean | undefined;
  readonly watch?: boolean | undefined;
  readonly every?: string | undefined;
}

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

export const types = async (terminal: Terminal, options: TypesOptions, name = 'schema.ts'): Promise<number> => {
  const seconds = secondsOf(options.every);
  const project = await getProject(await openProject(terminal, options));
  const path = resolve(terminal.folder, name);
  const loaded = await loadTypes(project);
  if (!loaded) throw new CommandError(`${project.apiUrl} returned no types.`);
  const isChanged = await writeIfChanged(path, loaded.text);
  if (options.json) terminal.print(`${JSON.stringify({ file: name, changed: isChanged })}\n`);
  else terminal.print(isChanged ? `Wrote ${name}.\n` : `${name} is up to date.\n`);
  if (!options.watch) return 0;
  let { etag } = loaded;
  await repeat(terminal, seconds, async () => {
    const now = await loadTypes(project, etag);
    if (!now) return;
    etag = now.etag;
    if (await writeIfChanged(path, now.text)) terminal.print(`Wrote ${path}.\n`);
  });
  return 0;
};
