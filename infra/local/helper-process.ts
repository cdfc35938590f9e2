import { startChild } from './child.ts';
import type { LocalService, LocalServiceOptions } from './local-service.ts';
import { StartProblem } from './problem.ts';

export interface HelperOptions extends LocalServiceOptions {
  /** What it is, in messages. */
  readonly name: string;
  /** The program, which prints `up` once it listens and ends with its standard input. */
  readonly file: string;
  readonly args: readonly string[];
  /** Besides the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

const startLimitMs = 60_000;

/** Runs one of our own programs beside this process until it is stopped; resolves once it says that it is up. */
export const startHelper = async ({
  name,
  file,
  args,
  env,
  onExit,
}: HelperOptions): Promise<Pick<LocalService, 'stop'>> => {
  const started = Promise.withResolvers<void>();
  let up = false;
  const child = startChild({
    name,
    command: process.execPath,
    args: [file, ...args],
    env: { ...process.env, ...env },
    onLine: (line) => {
      if (line !== 'up') return;
      up = true;
      started.resolve();
    },
    onExit: (detail) => {
      if (up) onExit(detail);
      else started.reject(new StartProblem(`${name} did not start.\n${detail}`));
    },
  });
  const late = new StartProblem(`${name} did not start within ${startLimitMs / 1000} s.`);
  const limit = setTimeout(() => started.reject(late), startLimitMs);
  try {
    await started.promise;
    return { stop: child.stop };
  } catch (error) {
    await child.stop();
    throw error;
  } finally {
    clearTimeout(limit);
  }
};
