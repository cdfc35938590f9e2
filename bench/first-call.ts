import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { type FunctionProcess, type Invocation, startFunctionProcess } from '../infra/local/runtime-api.ts';
import { cpuOfThreads } from './processes.ts';

/** The start of a function's process in ms. `call` and `status` only if it was called. */
export interface Beginning {
  /** From the start of the process to its request for the first event. */
  readonly init: number;
  /** CPU of all its threads until then. */
  readonly cpu: number;
  /** From the first event to its response. */
  readonly call?: number;
  readonly status?: number;
}

interface Steps {
  /** The process requested its first event. */
  readonly onAsked: (pid: number, hand: (event: string) => void) => void;
  readonly onAnswer: (result: string) => void;
  readonly onFailure: (error: Error) => void;
}

const begin = (name: string, folder: string, env: NodeJS.ProcessEnv, steps: Steps): Promise<FunctionProcess> => {
  let asked = false;
  return startFunctionProcess(name, path.join(folder, name), env, {
    next: ({ pid }) =>
      new Promise<Invocation>((hand) => {
        if (asked) return;
        asked = true;
        steps.onAsked(pid, (event) =>
          hand({ id: randomUUID(), event, resolve: steps.onAnswer, reject: (error) => steps.onFailure(error) }),
        );
      }),
    ended: (_process, beforeFirst, detail) => {
      if (beforeFirst) steps.onFailure(new Error(`${name} does not start: ${detail}`));
    },
  });
};

/** Starts a bundle in a process, sends it one event if there is one, and ends it. */
export const beginOnce = async (
  name: string,
  folder: string,
  env: NodeJS.ProcessEnv,
  event: unknown,
): Promise<Beginning> => {
  const done = Promise.withResolvers<Beginning>();
  const startedAt = performance.now();
  let askedAt = 0;
  let cpu = 0;
  const started = begin(name, folder, env, {
    onAsked: (pid, hand) => {
      askedAt = performance.now();
      cpu = cpuOfThreads(pid);
      if (event === undefined) done.resolve({ init: askedAt - startedAt, cpu });
      else hand(JSON.stringify(event));
    },
    onAnswer: (result) => {
      const { statusCode } = JSON.parse(result) as { readonly statusCode?: number };
      done.resolve({
        init: askedAt - startedAt,
        cpu,
        call: performance.now() - askedAt,
        ...(statusCode !== undefined && { status: statusCode }),
      });
    },
    onFailure: done.reject,
  });
  try {
    return await done.promise;
  } finally {
    await (await started).stop();
  }
};
