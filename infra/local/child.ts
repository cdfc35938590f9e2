import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface ChildOptions {
  /** The name in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Receives every line of both output streams. */
  readonly onLine?: (line: string) => void;
  /** The child ended on its own. `detail` has the exit code and its last lines. */
  readonly onExit: (detail: string, code: number | null) => void;
  /** How long `stop` waits before it kills the child. */
  readonly killAfterMs?: number;
}

export interface Child {
  readonly pid: number;
  /** Closes the child's standard input, and kills the child if it has not ended in time. */
  stop(): Promise<void>;
}

const maxErrorLines = 12;

/** With a process group of its own, so that Ctrl-C reaches only this process, which then stops its children in order. */
const launch = ({ command, args, env }: ChildOptions): ChildProcess =>
  spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env: env ?? process.env });

const kill = (child: ChildProcess): void => {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
};

/**
 * Starts a program that ends when its standard input closes. The operating system closes it even if this process is
 * killed, so no child outlives its parent.
 */
export const startChild = (options: ChildOptions): Child => {
  const child = launch(options);
  const errorLines: string[] = [];
  let stopping = false;
  const exited = new Promise<void>((resolve) => {
    const onEnd = (detail: string, code: number | null): void => {
      child.stdin?.destroy();
      if (!stopping) options.onExit([detail, ...errorLines].join('\n  '), code);
      resolve();
    };
    child.once('error', (error) => onEnd(error.message, null));
    child.once('exit', (code, signal) => onEnd(`${options.name} ended (${signal ?? `exit code ${code}`})`, code));
  });
  child.stdin?.on('error', () => undefined);
  if (child.stdout) createInterface(child.stdout).on('line', (line) => options.onLine?.(line));
  if (child.stderr) {
    createInterface(child.stderr).on('line', (line) => {
      options.onLine?.(line);
      errorLines.push(line);
      if (errorLines.length > maxErrorLines) errorLines.shift();
    });
  }
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      stopping = true;
      child.stdin?.end();
      const timer = setTimeout(() => kill(child), options.killAfterMs ?? 4000);
      await exited;
      clearTimeout(timer);
    },
  };
};

/** Starts a program that ignores its standard input. `end` is a shell command that stops it, by SIGKILL if none is given. */
export const startSupervised = (options: ChildOptions, end = 'kill -9 "$program"'): Child => {
  // One shell waits for the program, a second one waits for the end of the input and then stops the program.
  const supervise = `
exec 3<&0
"$@" </dev/null & program=$!
(cat <&3; ${end}) </dev/null >/dev/null 2>&1 &
wait "$program"`;
  return startChild({
    ...options,
    command: 'sh',
    args: ['-c', supervise, options.name, options.command, ...options.args],
  });
};

/** Runs a program to its end, or until this process ends. Rejects with its last lines if it fails. */
export const runSupervised = (options: Omit<ChildOptions, 'onExit'>): Promise<void> =>
  new Promise((resolve, reject) => {
    const onExit = (detail: string, code: number | null): void => (code === 0 ? resolve() : reject(new Error(detail)));
    startSupervised({ ...options, onExit });
  });
