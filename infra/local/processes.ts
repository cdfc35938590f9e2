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

const neededNode = 24;

/** Ends the process with advice if Node is too old. Every entry point calls it first. */
export const requireNode = (): void => {
  if (Number.parseInt(process.versions.node, 10) >= neededNode) return;
  process.stderr.write(
    `Basalt needs Node ${neededNode} or later, but this is ${process.version}.\n` +
      'On Linux, use the npm scripts, such as `npm start`; they bring their own Node. On other systems, install Node 24 from https://nodejs.org.\n',
  );
  process.exit(1);
};

const pollMs = 500;

/**
 * Calls `onEnd` when the npm that runs this script has ended. npm passes signals only to the shell in between, which
 * ends without passing them on.
 */
const watchNpm = (onEnd: () => void): void => {
  if (!process.env.npm_lifecycle_event) return;
  const shell = process.ppid;
  const npm = Number(statOf(shell).parent);
  const timer = setInterval(() => {
    if (process.ppid === shell && (npm === 0 || isAlive(npm))) return;
    clearInterval(timer);
    onEnd();
  }, pollMs);
  timer.unref();
};

/**
 * Calls `stop` on Ctrl-C, SIGTERM, SIGHUP and when npm ends; `stop` must end this process. A second signal ends it
 * immediately.
 */
export const onStopRequest = (stop: () => void): void => {
  let isStopping = false;
  const request = (): void => {
    if (isStopping) process.exit(1);
    isStopping = true;
    stop();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, request);
  watchNpm(() => {
    if (!isStopping) request();
  });
  // The terminal may be closed before this process ends.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
};

/** Ends this process together with the npm that runs it. Children end because their standard input closes. */
export const endWithNpm = (): void => watchNpm(() => process.exit(1));
