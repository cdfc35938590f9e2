import { isAlive, statOf } from './process-stat.ts';

const everyMs = 500;

/**
 * Calls `onEnd` when the npm that runs this script is gone. npm hands signals to the shell between them only, which
 * dies of them and tells nobody. Does nothing where npm does not run this.
 */
export const watchNpm = (onEnd: () => void): void => {
  if (!process.env.npm_lifecycle_event) return;
  const shell = process.ppid;
  const npm = Number(statOf(shell).parent);
  const timer = setInterval(() => {
    if (process.ppid === shell && (npm === 0 || isAlive(npm))) return;
    clearInterval(timer);
    onEnd();
  }, everyMs);
  timer.unref();
};
