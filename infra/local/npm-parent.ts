import { readFileSync } from 'node:fs';
import { isAlive } from './process-alive.ts';

const everyMs = 500;

/** The parent of another process, where the system tells. */
const parentOf = (pid: number): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
};

/**
 * Calls `onEnd` when the npm that runs this script is gone. npm hands signals to the shell between them only, which
 * dies of them and tells nobody. Does nothing where npm does not run this.
 */
export const watchNpm = (onEnd: () => void): void => {
  if (!process.env.npm_lifecycle_event) return;
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && (npm === undefined || isAlive(npm))) return;
    clearInterval(timer);
    onEnd();
  }, everyMs);
  timer.unref();
};
