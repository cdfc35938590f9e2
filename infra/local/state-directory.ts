import { access, constants, mkdir } from 'node:fs/promises';
import { StartProblem } from './problem.ts';

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'it belongs to someone else, or is closed to this user'],
  ['EPERM', 'it belongs to someone else, or is closed to this user'],
  ['EROFS', 'it is on a disk that is read-only'],
  ['EEXIST', 'a file has that name'],
  ['ENOTDIR', 'a file has that name, or a part of it'],
  ['ENOSPC', 'the disk is full'],
]);

/**
 * Makes the folder of all state where it is missing; one that nothing can be written to → `StartProblem` saying why.
 */
export const prepareDirectory = async (directory: string): Promise<void> => {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = reasons.get((cause as NodeJS.ErrnoException).code);
    if (!reason) throw cause;
    throw new StartProblem(
      `The folder ${directory} cannot hold the data: ${reason}.\n` +
        'Name another one, for example: BASALT_DIR="$HOME/basalt" npm start',
      { cause },
    );
  }
};
