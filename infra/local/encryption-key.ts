import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { placeFile } from './place-file.ts';
import { StartProblem } from './problem.ts';

const keyBytes = 32;

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
    await placeFile(file, randomBytes(keyBytes).toString('base64'));
  }
  const key = (await readFile(file, 'utf8')).trim();
  if (Buffer.from(key, 'base64').length !== keyBytes) throw unusable(file, 'is damaged');
  return key;
};
