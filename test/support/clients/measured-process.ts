import path from 'node:path';
import { inject } from 'vitest';
import { type Child, startChild } from '../../../infra/local/child.ts';
import { plainEnvironment } from './plain-environment.ts';

/** The report of a process. */
export interface Measured {
  readonly seconds: number;
  readonly peakMiB: number;
  readonly removed?: number;
  /** The heap after garbage collection, before and after its work. */
  readonly beforeMiB?: number;
  readonly afterMiB?: number;
}

export interface Measuring {
  readonly child: Child;
  /** `undefined` if it was killed. */
  readonly ended: Promise<Measured | undefined>;
  /** Its exit and its last output. */
  readonly said: () => string;
}

/**
 * Runs a script of this folder in a process with a small heap, on the test run's services; `argument` is its first
 * argument.
 */
export const startMeasured = (script: string, argument: string, heapMiB = 64): Measuring => {
  const result = Promise.withResolvers<Measured | undefined>();
  let said = '';
  const child = startChild({
    name: script,
    command: process.execPath,
    args: [`--max-old-space-size=${heapMiB}`, path.join(import.meta.dirname, script), argument],
    env: { ...plainEnvironment(), ...inject('stack').env, LOG: 'silent' },
    onLine: (line) => {
      if (line.startsWith('{') && line.includes('"peakMiB":')) result.resolve(JSON.parse(line) as Measured);
    },
    onExit: (detail) => {
      said = detail;
      result.resolve(undefined);
    },
  });
  return { child, ended: result.promise, said: () => said };
};

/** Runs a script to its end. Fails the test if it crashes. */
export const measured = async (script: string, argument: string, heapMiB?: number): Promise<Measured> => {
  const process = startMeasured(script, argument, heapMiB);
  const ended = await process.ended;
  if (!ended) throw new Error(process.said());
  return ended;
};
