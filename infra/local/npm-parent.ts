import { isAlive, statOf } from './process-stat.ts';

const everyMs = 500;

/**
 * Calls `onEnd` when the npm that runs this script is gone. npm hands signals to the shell between them only, which
 * dies of them and tells nobody. Does nothing where npm does not run this.
 */
const watchNpm = (onEnd: () => void): void => {
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

/**
 * Has Ctrl-C, SIGTERM, SIGHUP and the end of npm call `stop`, which is to end this process in order; asked once more it
 * ends at once.
 */
export const stopWhenAsked = (stop: () => void): void => {
  let asked = false;
  const ask = (): void => {
    if (asked) process.exit(1);
    asked = true;
    stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
  watchNpm(() => {
    if (!asked) ask();
  });
  // The terminal may be gone before this process is.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
};

/** Ends this process with the npm that runs it; its children end with it, by their standard input. */
export const endWithNpm = (): void => watchNpm(() => process.exit(1));
