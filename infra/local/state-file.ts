import { readFile, rename, writeFile } from 'node:fs/promises';

/** What a file of JSON holds; `undefined` where there is none, or it is damaged. */
export const loadState = async <T>(file: string): Promise<T | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch {
    return undefined;
  }
};

/** Replaces such a file in one step; only its owner can read it. */
export const writeState = async (file: string, content: object): Promise<void> => {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
};
