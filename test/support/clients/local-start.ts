import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { plainEnvironment } from './plain-environment.ts';

const script = path.resolve(import.meta.dirname, '../../../infra/local/start.ts');

/** `npm start` in a process of its own. */
export interface LocalStart {
  readonly child: ChildProcess;
  /** Its output so far. */
  output(): string;
  /** Resolves when it is ready. Rejects with its output if it ends before. */
  ready(): Promise<void>;
  /** Its exit code or signal. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

const waitFor = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await pause(20);
};

export const localStart = (env: Readonly<Record<string, string>>, args: readonly string[] = []): LocalStart => {
  const child = spawn(process.execPath, [script, ...args], {
    // Like npm's child, it ends with its parent.
    env: { ...plainEnvironment(), npm_lifecycle_event: 'start', LOG: 'silent', PASSWORD_COST: '4', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? signal));
  });
  return {
    child,
    ended,
    output: () => text,
    ready: () =>
      Promise.race([
        waitFor(() => text.includes('\nready ')),
        ended.then((how) => {
          throw new Error(`ended (${how}):\n${text}`);
        }),
      ]),
  };
};

/** `/proc` of a process; empty if it has ended. */
const statOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
};

/** Process id → parent id of all running processes; Linux only. */
const parents = (): Map<number, number> => {
  const found = new Map<number, number>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = statOf(pid);
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (parent !== undefined && state !== 'Z') found.set(Number(pid), Number(parent));
  }
  return found;
};

/** All descendants of a process. */
export const descendantsOf = (pid: number): number[] => {
  const all = parents();
  const found = [pid];
  for (const known of found) for (const [child, parent] of all) if (parent === known) found.push(child);
  return found.slice(1);
};

/** The processes that still run. */
export const stillRunning = (pids: readonly number[]): number[] => {
  const all = parents();
  return pids.filter((pid) => all.has(pid));
};
