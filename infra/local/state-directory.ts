import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { StartProblem } from './problem.ts';
import { isAlive, statOf } from './processes.ts';

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'you have no permission to write there'],
  ['EPERM', 'you have no permission to write there'],
  ['EROFS', 'the disk is read-only'],
  ['EEXIST', 'a file has that name'],
  ['ENOTDIR', 'a file has that name, or the name of a parent folder'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'your disk quota is used up'],
  ['ENOENT', 'the system allows no folder there'],
]);

const isFolder = async (name: string): Promise<boolean> =>
  (await stat(name).catch(() => undefined))?.isDirectory() ?? false;

/** Like `mkdir` with `recursive`, which never ends if the system creates no folder, for example below `/proc`. */
const makeFolder = async (folder: string): Promise<void> => {
  if (await isFolder(folder)) return;
  const parent = path.dirname(folder);
  if (parent !== folder) await makeFolder(parent);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!(await isFolder(folder))) throw error;
  }
};

/** A full disk and some file systems only fail when something is written. */
const tryWriting = async (directory: string): Promise<void> => {
  const file = path.join(directory, `.written-${process.pid}`);
  try {
    await writeFile(file, 'x'.repeat(4096));
  } finally {
    await rm(file, { force: true });
  }
};

const anotherFolder = 'BASALT_DIR="$HOME/basalt" npm start';

/** Creates the state directory if it is missing. Throws `StartProblem` with the reason if it is not writable. */
export const prepareDirectory = async (directory: string): Promise<void> => {
  try {
    await makeFolder(path.resolve(directory));
    await tryWriting(directory);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = reasons.get(code) ?? message;
    throw new StartProblem(
      `The folder ${directory} cannot hold the data: ${reason}.\nChoose another folder, for example: ${anotherFolder}`,
      { cause },
    );
  }
};

const mebibyte = 2 ** 20;
/** MongoDB builds no index with less than 500 MiB of free space; the rest is for starting. */
const neededMebibytes = 600;

const freeBytesAt = async (directory: string): Promise<number> => {
  const { blocks, bavail, bsize } = await statfs(directory);
  // Some file systems do not report their size.
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
};

/** Throws `StartProblem` if the disk has too little free space for MongoDB. */
export const requireDiskSpace = async (directory: string, freeAt = freeBytesAt): Promise<void> => {
  const free = Math.floor((await freeAt(directory)) / mebibyte);
  if (free >= neededMebibytes) return;
  throw new StartProblem(
    `The disk of ${directory} has ${free} MiB of free space, and MongoDB needs ${neededMebibytes}.\n` +
      `Free some space, or choose a folder on another disk, for example: ${anotherFolder}`,
  );
};

/**
 * Creates a file that only its owner can read, completely or not at all. Returns false if it exists already. The draft
 * has a random name, because several calls of one process may run at the same time.
 */
export const createFile = async (file: string, content: string): Promise<boolean> => {
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { mode: 0o600, flush: true });
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(draft, { force: true });
  }
};

interface Holder {
  readonly pid: number;
  readonly port: number;
  readonly startedAt: string;
}

/** States of processes that have ended but whose parent has not read the exit code; in containers they often stay. */
const endedStates = ['Z', 'X'];

/** The start time of a process, because its id may belong to another program by now. Empty if it has ended. */
const startTimeOf = (pid: number): string => {
  const { state, begin } = statOf(pid);
  return endedStates.includes(state) ? '' : begin;
};

const contentOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

const parseHolder = (content: string): Holder | undefined => {
  try {
    return JSON.parse(content) as Holder;
  } catch {
    return undefined;
  }
};

const isRunning = ({ pid, startedAt }: Holder): boolean =>
  pid !== process.pid && isAlive(pid) && startTimeOf(pid) === startedAt;

/** True if a running process holds the lock file of a state directory. */
export const isLocked = async (file: string): Promise<boolean> => {
  const holder = parseHolder(await contentOf(file));
  return holder !== undefined && isRunning(holder);
};

/** Removes a stale lock file, unless another process has replaced it since it was read. */
const removeStale = async (file: string, staleContent: string): Promise<void> => {
  const aside = `${file}.${process.pid}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await contentOf(aside)) !== staleContent) await link(aside, file);
  await rm(aside);
};

/**
 * Locks a state directory for this process and returns the release function. Throws `StartProblem` if another running
 * process holds the lock; the lock of a killed process is taken over.
 */
export const acquireLock = async (file: string, port: number): Promise<() => Promise<void>> => {
  const content = JSON.stringify({ pid: process.pid, port, startedAt: startTimeOf(process.pid) } satisfies Holder);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (await createFile(file, content)) return () => rm(file, { force: true });
    const found = await contentOf(file);
    const holder = parseHolder(found);
    if (holder && isRunning(holder)) {
      throw new StartProblem(
        `Basalt is already running on port ${holder.port} with this data (process ${holder.pid}).\n` +
          'Stop it first, or start a second one with its own data: BASALT_DIR=.basalt-2 PORT=4100 npm start',
      );
    }
    await removeStale(file, found);
  }
  throw new StartProblem('Another Basalt is starting with the same data. Wait a moment, then start again.');
};
