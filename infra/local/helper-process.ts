import { type ChildOptions, startChild } from './child.ts';
import type { LocalService, LocalServiceOptions } from './local-service.ts';
import { StartProblem } from './problem.ts';

const startLimitMs = 60_000;

/**
 * Starts a program beside this process; resolves once `readUp` reads from one of its lines that it is up, with what it
 * read. Ended before, or not up within a minute → `StartProblem`.
 */
export const startUntilUp = async <T>(
  { onExit, ...options }: Omit<ChildOptions, 'onLine'>,
  readUp: (line: string) => T | undefined,
  start = startChild,
): Promise<{ readonly up: T } & Pick<LocalService, 'stop'>> => {
  const { name } = options;
  const started = Promise.withResolvers<T>();
  let isUp = false;
  const { stop } = start({
    ...options,
    onLine: (line) => {
      const up = isUp ? undefined : readUp(line);
      if (up === undefined) return;
      isUp = true;
      started.resolve(up);
    },
    onExit: (detail) => {
      if (isUp) onExit(detail);
      else started.reject(new StartProblem(`${name} did not start.\n${detail}`));
    },
  });
  const late = new StartProblem(`${name} did not start within ${startLimitMs / 1000} s.`);
  const limit = setTimeout(() => started.reject(late), startLimitMs);
  try {
    return { up: await started.promise, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(limit);
  }
};

interface HelperOptions extends LocalServiceOptions {
  /** What it is, in messages. */
  readonly name: string;
  /** The program, which prints `up` once it listens and ends with its standard input. */
  readonly file: string;
  readonly args: readonly string[];
  /** Besides the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs one of our own programs beside this process until it is stopped. */
export const startHelper = ({ name, file, args, env, onExit }: HelperOptions): Promise<Pick<LocalService, 'stop'>> =>
  startUntilUp(
    { name, command: process.execPath, args: [file, ...args], env: { ...process.env, ...env }, onExit },
    (line) => line === 'up' || undefined,
  );
