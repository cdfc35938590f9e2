import { statfs } from 'node:fs/promises';
import { StartProblem } from '../problem.ts';

const mebibyte = 2 ** 20;
/** MongoDB builds no index with less than 500 MiB, so that no collection could be made; the rest is for the start. */
const neededMebibytes = 600;

/** Where the system does not tell, as much as anybody could want. */
const freeBytesAt = async (directory: string): Promise<number> => {
  const { blocks, bavail, bsize } = await statfs(directory);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
};

/**
 * Looks whether the disk of a folder has room for what the engine does; too little → `StartProblem` saying how much.
 */
export const requireDiskSpace = async (directory: string, freeAt = freeBytesAt): Promise<void> => {
  const free = Math.floor((await freeAt(directory)) / mebibyte);
  if (free >= neededMebibytes) return;
  throw new StartProblem(
    `The disk of ${directory} has ${free} MiB left, and MongoDB needs ${neededMebibytes}.\n` +
      'Make room, or name a folder on another disk, for example: BASALT_DIR="$HOME/basalt" npm start',
  );
};
