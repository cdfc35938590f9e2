import path from 'node:path';
import { inject } from 'vitest';
import { type Child, startChild } from '../../../infra/local/child.ts';
import { plainEnvironment } from './plain-environment.ts';

/** What a process tells of itself before it ends. */
export interface Measured {
  readonly seconds: number;
  readonly peakMiB: number;
  readonly removed?: number;
  /** Of the heap after a collection, before and after its work. */
  readonly beforeMiB?: number;
  readonly afterMiB?: number;
}

export interface Measuring {
  readonly child: Child;
  /** `undefined` where it was killed. */
  readonly ended: Promise<Measured | undefined>;
  /** How it ended, and the last that it said. */
  readonly said: () => string;
}

/**
 * Runs a script beside this file in a process with a small heap, on the stack of the test run; `argument` is the
 * script's first.
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

/** The same to its end; one that dies fails the test. */
export const measured = async (script: string, argument: string, heapMiB?: number): Promise<Measured> => {
  const process = startMeasured(script, argument, heapMiB);
  const ended = await process.ended;
  if (!ended) throw new Error(process.said());
  return ended;
};
