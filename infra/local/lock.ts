import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { StartProblem } from './problem.ts';
import { isAlive } from './process-alive.ts';

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
const beginOf = async (pid: number): Promise<string> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [state = '', ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ended.includes(state) ? '' : (others[18] ?? '');
};

const contentOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

const holderIn = (content: string): Holder | undefined => {
  try {
    return JSON.parse(content) as Holder;
  } catch {
    return undefined;
  }
};

const stillRuns = async ({ pid, startedAt }: Holder): Promise<boolean> =>
  pid !== process.pid && isAlive(pid) && (await beginOf(pid)) === startedAt;

/** Whether a running process has claimed a state directory, by its lock file. */
export const isClaimed = async (file: string): Promise<boolean> => {
  const holder = holderIn(await contentOf(file));
  return holder !== undefined && (await stillRuns(holder));
};

/**
 * Makes the file with this content in one step, so that nobody ever reads half of it; false where there is one already.
 */
const place = async (file: string, content: string): Promise<boolean> => {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, content, { mode: 0o600 });
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(draft, { force: true });
  }
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
  const mine = JSON.stringify({ pid: process.pid, port, startedAt: await beginOf(process.pid) } satisfies Holder);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (await place(file, mine)) return () => rm(file, { force: true });
    const found = await contentOf(file);
    const holder = holderIn(found);
    if (holder && (await stillRuns(holder))) {
      throw new StartProblem(
        `Basalt is already running on port ${holder.port} with this data (process ${holder.pid}).\n` +
          'Stop it first, or start a second one beside it: BASALT_DIR=.basalt-2 PORT=4100 npm start',
      );
    }
    await clear(file, found);
  }
  throw new StartProblem('Another Basalt is starting with this data at this moment.');
};
