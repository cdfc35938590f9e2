import { readFileSync } from 'node:fs';

/** True if a process with this id runs, also one of another user. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** State, parent and start time of a process, from Linux's `/proc`. Empty texts if it does not exist there. */
export const statOf = (pid: number): { readonly state: string; readonly parent: string; readonly begin: string } => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent = '', ...others] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, parent, begin: others[17] ?? '' };
  } catch {
    return { state: '', parent: '', begin: '' };
  }
};
