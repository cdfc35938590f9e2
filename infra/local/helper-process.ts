import { setTimeout as pause } from 'node:timers/promises';
import { type ChildOptions, startChild } from './child.ts';
import { StartProblem } from './problem.ts';

/** A part of the local service that runs in its own process. */
export interface LocalService {
  /** Its URI. */
  readonly address: string;
  stop(): Promise<void>;
}

export interface LocalServiceOptions {
  /** Prints a step that takes time. */
  readonly report: (step: string) => void;
  /** The process ended on its own. */
  readonly onExit: (detail: string) => void;
}

const maxStartMs = 60_000;
const pollMs = 200;

/** How a program shows that it is ready: one of these returns a value. */
interface Readiness<T> {
  /** Reads a line of its output. */
  readonly line?: (line: string) => T | undefined;
  /** Looks whether it responds. An error means that it does not respond yet. */
  readonly poll?: () => Promise<T | undefined>;
}

/** Starts a program and waits until it is ready. Throws `StartProblem` if it ends before, or is not ready in a minute. */
export const startUntilReady = async <T>(
  { onExit, ...options }: Omit<ChildOptions, 'onLine'>,
  { line: parseReady, poll }: Readiness<T>,
  start = startChild,
): Promise<{ readonly ready: T } & Pick<LocalService, 'stop'>> => {
  const { name } = options;
  const started = Promise.withResolvers<T>();
  let isReady = false;
  const check = (ready: T | undefined): void => {
    if (isReady || ready === undefined) return;
    isReady = true;
    started.resolve(ready);
  };
  const { stop } = start({
    ...options,
    onLine: (line) => check(parseReady?.(line)),
    onExit: (detail, code) => {
      if (isReady) onExit(detail, code);
      else started.reject(new StartProblem(`${name} did not start.\n${detail}`));
    },
  });
  let waiting = true;
  const keepPolling = async (): Promise<void> => {
    for (; poll && waiting; await pause(pollMs)) await poll().then(check, () => undefined);
  };
  void keepPolling();
  const late = new StartProblem(`${name} did not start within ${maxStartMs / 1000} s.`);
  const timer = setTimeout(() => started.reject(late), maxStartMs);
  try {
    return { ready: await started.promise, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
    waiting = false;
  }
};

interface HelperOptions extends LocalServiceOptions {
  /** The name in messages. */
  readonly name: string;
  /** A script that calls `endWithInput` and then `printReady`. */
  readonly file: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs one of our own scripts in a process of its own. */
export const startHelper = ({ name, file, args, env, onExit }: HelperOptions): Promise<Pick<LocalService, 'stop'>> =>
  startUntilReady(
    { name, command: process.execPath, args: [file, ...args], env: { ...process.env, ...env }, onExit },
    { line: (line) => line === 'ready' || undefined },
  );

/** In a helper: ends this process when its standard input closes. */
export const endWithInput = (): void => {
  for (const event of ['end', 'error']) process.stdin.on(event, () => process.exit(0));
  process.stdin.resume();
};

/** In a helper: tells the parent that this process is ready. */
export const printReady = (): void => {
  process.stdout.write('ready\n');
};
