import { link, readFile, rename, rm } from 'node:fs/promises';
import { placeFile } from './place-file.ts';
import { StartProblem } from './problem.ts';
import { isAlive, statOf } from './process-stat.ts';

interface Holder {
  readonly pid: number;
  readonly port: number;
  readonly startedAt: string;
}

/** States of processes that have ended, though nobody has asked how: in a container often for good. */
const ended = ['Z', 'X'];

/**
 * When a process began, where the system tells; a process id alone may have been given to another program since. Of one
 * that has ended, nothing.
 */
const beginOf = (pid: number): string => {
  const { state, begin } = statOf(pid);
  return ended.includes(state) ? '' : begin;
};

const contentOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

const holderIn = (content: string): Holder | undefined => {
  try {
    return JSON.parse(content) as Holder;
  } catch {
    return undefined;
  }
};

const stillRuns = ({ pid, startedAt }: Holder): boolean =>
  pid !== process.pid && isAlive(pid) && beginOf(pid) === startedAt;

/** Whether a running process has claimed a state directory, by its lock file. */
export const isClaimed = async (file: string): Promise<boolean> => {
  const holder = holderIn(await contentOf(file));
  return holder !== undefined && stillRuns(holder);
};

/** Takes away what is left of a claim, but not what another start may have put in its place since it was read. */
const clear = async (file: string, left: string): Promise<void> => {
  const aside = `${file}.${process.pid}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await contentOf(aside)) !== left) await link(aside, file);
  await rm(aside);
};

/**
 * Claims a state directory for this process; returns how to release it. Another running process holds it →
 * `StartProblem` naming its port; one that was killed does not count.
 */
export const claim = async (file: string, port: number): Promise<() => Promise<void>> => {
  const mine = JSON.stringify({ pid: process.pid, port, startedAt: beginOf(process.pid) } satisfies Holder);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (await placeFile(file, mine)) return () => rm(file, { force: true });
    const found = await contentOf(file);
    const holder = holderIn(found);
    if (holder && stillRuns(holder)) {
      throw new StartProblem(
        `Basalt is already running on port ${holder.port} with this data (process ${holder.pid}).\n` +
          'Stop it first, or start a second one beside it: BASALT_DIR=.basalt-2 PORT=4100 npm start',
      );
    }
    await clear(file, found);
  }
  throw new StartProblem('Another Basalt is starting with this data at this moment.');
};
