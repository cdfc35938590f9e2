import { readdirSync, readFileSync } from 'node:fs';

/** Linux's clock ticks per second, the same on all current machines. */
const microsPerTick = 10_000;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The fields after the name, which is in brackets and may contain anything: `S 1 …`. */
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
      // It has ended.
      return [];
    }
  });

/** All descendants of this process. */
const descendants = (): Process[] => {
  const all = Map.groupBy(processes(), ({ parent }) => parent);
  const below = (pid: number): Process[] => (all.get(pid) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  return below(process.pid);
};

/** CPU of a process with all its threads in µs, in steps of 10 ms. */
export const cpuOfProcess = (pid: number): number => {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * microsPerTick;
};

/** CPU of a process's threads in ms, with the system's full precision; Linux only. */
export const cpuOfThreads = (pid: number): number => {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const ran = tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]));
  return ran.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
};

const cpuOfAll = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuOfProcess(pid), 0);

/** The descendant that runs a program; `undefined` if the system does not tell. */
export const findChild = (program: string): number | undefined =>
  process.platform === 'linux'
    ? descendants().find(({ command }) => command.startsWith(`${program} `))?.pid
    : undefined;

/** CPU of the backing services in µs. */
export interface Backing {
  /** MongoDB. */
  readonly engine: () => number;
  /** The emulators of DynamoDB, SQS and S3. */
  readonly emulators: () => number;
}

const engineProgram = 'mongo/host.mjs';

/**
 * Finds the processes of a local service that this process has started. Must be called before any other child starts.
 * `undefined` without `/proc` or with an external database.
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
