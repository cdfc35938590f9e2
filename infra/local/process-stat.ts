import { readFileSync } from 'node:fs';

/** True while a process with this id runs, whoever owns it. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/**
 * What Linux tells of a process: its state, its parent, and when it began, by which one is told from another that has
 * been given its id since. Nothing where the system does not tell, or there is no such process.
 */
export const statOf = (pid: number): { readonly state: string; readonly parent: string; readonly begin: string } => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent = '', ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent, begin: others[17] ?? '' };
  } catch {
    return { state: '', parent: '', begin: '' };
  }
};
