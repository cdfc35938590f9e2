import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { StartProblem } from './problem.ts';
import { isAlive } from './process-alive.ts';

interface Holder {
  readonly pid: number;
  readonly port: number;
  readonly startedAt: string;
}

/** When a process began, where the system tells; a process id alone may have been given to another program since. */
const beginOf = async (pid: number): Promise<string> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
};

const holderOf = async (file: string): Promise<Holder | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
};

const stillRuns = async ({ pid, startedAt }: Holder): Promise<boolean> =>
  pid !== process.pid && isAlive(pid) && (await beginOf(pid)) === startedAt;

/** Whether a running process has claimed a state directory, by its lock file. */
export const isClaimed = async (file: string): Promise<boolean> => {
  const holder = await holderOf(file);
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

/**
 * Claims a state directory for this process; returns how to release it. Another running process holds it →
 * `StartProblem` naming its port; one that was killed does not count.
 */
export const claim = async (file: string, port: number): Promise<() => Promise<void>> => {
  const mine = JSON.stringify({ pid: process.pid, port, startedAt: await beginOf(process.pid) } satisfies Holder);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    if (await place(file, mine)) return () => rm(file, { force: true });
    const holder = await holderOf(file);
    if (holder && (await stillRuns(holder))) {
      throw new StartProblem(
        `Basalt is already running on port ${holder.port} with this data (process ${holder.pid}).\n` +
          'Stop it first, or start a second one beside it: BASALT_DIR=.basalt-2 PORT=4100 npm start',
      );
    }
    await rm(file, { force: true });
  }
  throw new StartProblem('Another Basalt is starting with this data at this moment.');
};
