import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { inject } from 'vitest';
import type { InvokeOptions } from './invoke.ts';
import { plainEnvironment } from './plain-environment.ts';

/** A request, and the number of the database command before which its process is killed. */
export interface KilledRequest {
  readonly route: 'createDocument' | 'createDocuments' | 'deleteDocuments' | 'runBatch' | 'updateDocuments';
  readonly options: InvokeOptions;
  readonly at: number;
  /** To which it writes. */
  readonly collections: readonly string[];
}

/** A run of the job of effects in a collection, and the number of the command before which its process is killed. */
export interface KilledEffects {
  readonly projectId: string;
  readonly name: string;
  /** How far the clock of the process is ahead. */
  readonly aheadMs: number;
  readonly key: string;
  readonly at: number;
}

/** The response of a request; 200 for a job that has ended. */
export interface Acknowledged {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Processes that wait for a request; the next one starts while a request runs. */
const waiting: ChildProcess[] = [];

const start = (): ChildProcess => {
  const script = path.join(import.meta.dirname, 'killed-writer.ts');
  const { PERMITTED_ADDRESSES = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = { ...plainEnvironment(), ...inject('stack').env, PERMITTED_ADDRESSES, NODE_COMPILE_CACHE };
  return spawn(process.execPath, [script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...env, LOG: 'silent', RATE_LIMIT: '0' },
  });
};

/**
 * Carries out a request or a job in a process of its own, which is killed by `kill -9` before a command. Returns the response;
 * `undefined` if the process was killed before it.
 */
export const requestAndKill = async (request: KilledRequest | KilledEffects): Promise<Acknowledged | undefined> => {
  const child = waiting.shift() ?? start();
  while (waiting.length < 2) waiting.push(start());
  const ended = Promise.withResolvers<Acknowledged | undefined>();
  child.once('error', ended.reject);
  child.once('close', (code, signal) => {
    if (signal === 'SIGKILL') ended.resolve(undefined);
    else ended.reject(new Error(`The process ended before it was killed: ${signal ?? code}`));
  });
  if (child.stdout) {
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('{"acknowledged":')) ended.resolve(JSON.parse(line).acknowledged);
    });
  }
  child.stdin?.write(`${JSON.stringify(request)}\n`);
  try {
    return await ended.promise;
  } finally {
    child.kill('SIGKILL');
  }
};

/** Ends the processes that wait. */
export const endWriters = (): void => {
  for (const child of waiting.splice(0)) child.kill('SIGKILL');
};
