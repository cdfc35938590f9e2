import { readFile, writeFile } from 'node:fs/promises';

const mebibytes = async (pid: number, name: string): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
};

/** MiB of memory that a process has resident now. */
export const residentMemory = (pid: number): Promise<number> => mebibytes(pid, 'VmRSS');

/** MiB of memory that a process has resident at its peak while `act` runs, what it keeps from before included. */
export const peakMemory = async (pid: number, act: () => Promise<unknown>): Promise<number> => {
  // Linux begins to note the peak anew.
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  await act();
  return mebibytes(pid, 'VmHWM');
};
