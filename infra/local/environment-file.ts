import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

const fileIn = (directory: string): string => path.join(directory, 'environment.json');

/** What functions of the running local stack are told, secrets included; `undefined` where none has started yet. */
export const readEnvironment = async (directory: string): Promise<Readonly<Record<string, string>> | undefined> => {
  try {
    return JSON.parse(await readFile(fileIn(directory), 'utf8')) as Record<string, string>;
  } catch {
    return undefined;
  }
};

/** Leaves that for `npm run doctor -- --local`, in a file that only its owner can read. */
export const writeEnvironment = async (directory: string, env: Readonly<Record<string, string>>): Promise<void> => {
  const draft = `${fileIn(directory)}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(env, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, fileIn(directory));
};
