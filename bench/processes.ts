import { readdirSync, readFileSync } from 'node:fs';

/** What Linux counts the time of a process in; it is 100 a second on every machine of today. */
const microsPerTick = 10_000;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The fields after the name, which stands in brackets and may hold anything: `S 1 …`. */
const statOf = (pid: number): readonly string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
};

const processes = (): Process[] =>
  readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return [{ pid, parent: Number(statOf(pid)[1]), command }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });

/** The processes that this one has started, and those that they have. */
const descendants = (): Process[] => {
  const all = Map.groupBy(processes(), ({ parent }) => parent);
  const below = (pid: number): Process[] => (all.get(pid) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  return below(process.pid);
};

/** CPU that a process has used so far, all of its threads, in µs; steps of 10 ms. */
export const cpuOfProcess = (pid: number): number => {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * microsPerTick;
};

/** What the threads of a process have used so far, in ms, as exact as the system counts it; Linux alone. */
export const cpuOfThreads = (pid: number): number => {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const ran = tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]));
  return ran.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
};

const cpuOfAll = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuOfProcess(pid), 0);

/** The process that this one, or one of its own, runs a program in; `undefined` where the system does not tell. */
export const findChild = (program: string): number | undefined =>
  process.platform === 'linux'
    ? descendants().find(({ command }) => command.startsWith(`${program} `))?.pid
    : undefined;

/** What the servers under measurement work with: the CPU that each part has used so far, µs. */
export interface Backing {
  /** MongoDB. */
  readonly engine: () => number;
  /** What stands for DynamoDB, SQS and S3. */
  readonly emulators: () => number;
}

const engineProgram = 'mongo/host.mjs';

/**
 * Finds the processes of a stack that this one has started; call it before any other child is there. `undefined` where
 * the system does not tell (it takes `/proc`), or where the database is somebody else's.
 */
export const findBacking = (): Backing | undefined => {
  if (process.platform !== 'linux') return undefined;
  const [engines, emulators] = [true, false].map((wanted) =>
    descendants()
      .filter(({ command }) => command.includes(engineProgram) === wanted)
      .map(({ pid }) => pid),
  ) as [number[], number[]];
  if (engines.length === 0) return undefined;
  return { engine: () => cpuOfAll(engines), emulators: () => cpuOfAll(emulators) };
};
