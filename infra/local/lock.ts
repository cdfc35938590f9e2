import { link, readFile, rename, rm } from 'node:fs/promises';
import { StartProblem } from './problem.ts';
import { isAlive, statOf } from './process-stat.ts';
import { createFile } from './state-directory.ts';

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
