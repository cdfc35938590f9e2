import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { StartProblem } from './problem.ts';

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'it belongs to someone else, or is closed to this user'],
  ['EPERM', 'it belongs to someone else, or is closed to this user'],
  ['EROFS', 'it is on a disk that is read-only'],
  ['EEXIST', 'a file has that name'],
  ['ENOTDIR', 'a file has that name, or a part of it'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk has no room left for this user'],
  ['ENOENT', 'nothing can be made there'],
]);

const isFolder = async (name: string): Promise<boolean> =>
  (await stat(name).catch(() => undefined))?.isDirectory() ?? false;

/** Makes a folder and those above it; by itself Node tries for ever if the system makes none, as below `/proc`. */
const makeFolder = async (folder: string): Promise<void> => {
  if (await isFolder(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) await makeFolder(above);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!(await isFolder(folder))) throw error;
  }
};

/** Some file systems, and a full disk, say only to who writes that nothing can be written. */
const tryWriting = async (directory: string): Promise<void> => {
  const file = path.join(directory, `.written-${process.pid}`);
  try {
    await writeFile(file, 'x'.repeat(4096));
  } finally {
    await rm(file, { force: true });
  }
};

/**
 * Makes the folder of all state where it is missing; one that nothing can be written to → `StartProblem` saying why.
 */
export const prepareDirectory = async (directory: string): Promise<void> => {
  try {
    await makeFolder(path.resolve(directory));
    await tryWriting(directory);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = reasons.get(code) ?? message;
    throw new StartProblem(
      `The folder ${directory} cannot hold the data: ${reason}.\n` +
        'Name another one, for example: BASALT_DIR="$HOME/basalt" npm start',
      { cause },
    );
  }
};
