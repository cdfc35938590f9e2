import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface ChildOptions {
  /** What the child calls itself in messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Every line it writes, to either stream. */
  readonly onLine?: (line: string) => void;
  /** The child ended although nobody stopped it; `detail` is how, and the last it said. */
  readonly onExit: (detail: string) => void;
}

export interface Child {
  readonly pid: number;
  /** Ends the child: first by closing its standard input, after a few seconds by force. */
  stop(): Promise<void>;
}

const patienceMs = 4000;
const rememberedLines = 12;

/** Its own process group, so that Ctrl-C reaches only this process, which then ends its children in order. */
const launch = ({ command, args, env }: ChildOptions): ChildProcess =>
  spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env: env ?? process.env });

const kill = (child: ChildProcess): void => {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
};

/** Starts a child that ends when its standard input does, which the system closes however this process dies. */
export const startChild = (options: ChildOptions): Child => {
  const child = launch(options);
  const said: string[] = [];
  let stopping = false;
  const exited = new Promise<void>((resolve) => {
    const ended = (detail: string): void => {
      child.stdin?.destroy();
      if (!stopping) options.onExit([detail, ...said].join('\n  '));
      resolve();
    };
    child.once('error', (error) => ended(error.message));
    child.once('exit', (code, signal) => ended(`${options.name} ended (${signal ?? `exit code ${code}`})`));
  });
  child.stdin?.on('error', () => undefined);
  if (child.stdout) createInterface(child.stdout).on('line', (line) => options.onLine?.(line));
  if (child.stderr) {
    createInterface(child.stderr).on('line', (line) => {
      options.onLine?.(line);
      said.push(line);
      if (said.length > rememberedLines) said.shift();
    });
  }
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      stopping = true;
      child.stdin?.end();
      const force = setTimeout(() => kill(child), patienceMs);
      await exited;
      clearTimeout(force);
    },
  };
};

/**
 * Runs a program that does not watch its standard input: one shell waits for the program, a second one for the end of
 * the input and then kills the program, which therefore has to keep its data safe through that.
 */
const supervise = `
exec 3<&0
"$@" </dev/null & program=$!
(cat <&3; kill -9 "$program") </dev/null >/dev/null 2>&1 &
wait "$program"`;

/** The same for a foreign binary. */
export const startSupervised = (options: ChildOptions): Child =>
  startChild({ ...options, command: 'sh', args: ['-c', supervise, options.name, options.command, ...options.args] });
