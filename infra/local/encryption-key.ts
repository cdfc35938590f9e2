import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { StartProblem } from './problem.ts';

const keyBytes = 32;

const make = async (file: string): Promise<void> => {
  // Its own name a call: two callers of one process would take each other's draft away.
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, randomBytes(keyBytes).toString('base64'), { mode: 0o600, flush: true });
    // A link is made whole or not at all, so that a crash cannot leave half a key behind.
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
};

const unusable = (file: string, what: string): StartProblem =>
  new StartProblem(
    `The key of this data, ${file}, ${what}. Put it back from a copy; without it sealed secrets cannot be opened.\n` +
      `To begin anew, without the data, delete ${path.dirname(file)}`,
  );

/**
 * The master key of a state directory: 32 bytes in base64, made once, before there are data, and readable by its owner
 * only. Gone or damaged while the data are there → `StartProblem`.
 */
export const encryptionKey = async (directory: string): Promise<string> => {
  const file = path.join(directory, 'encryption-key');
  if (!existsSync(file)) {
    if (existsSync(path.join(directory, 'mongo'))) throw unusable(file, 'is missing');
    await make(file);
  }
  const key = (await readFile(file, 'utf8')).trim();
  if (Buffer.from(key, 'base64').length !== keyBytes) throw unusable(file, 'is damaged');
  return key;
};
