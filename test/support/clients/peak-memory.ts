import { readFile, writeFile } from 'node:fs/promises';

const mebibytes = async (pid: number, name: string): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
};

/** Resident memory of a process in MiB. */
export const residentMemory = (pid: number): Promise<number> => mebibytes(pid, 'VmRSS');

/** Peak resident memory of a process in MiB during `act`, including memory from before. */
export const peakMemory = async (pid: number, act: () => Promise<unknown>): Promise<number> => {
  // Resets Linux's peak.
  await writeFile(`/proc/${pid}/clear_refs`, '5');
  await act();
  return mebibytes(pid, 'VmHWM');
};
