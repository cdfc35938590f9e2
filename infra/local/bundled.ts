import { randomUUID } from 'node:crypto';
import { totalmem } from 'node:os';
import path from 'node:path';
import type { Invoke } from './gateway.ts';
import type { FunctionResult } from './response.ts';
import { type FunctionProcess, type Invocation, startFunctionProcess } from './runtime-api.ts';

/** Per function; enough for concurrent requests of one developer. */
const maxProcesses = 4;

/** For all functions together. Each process needs about 90 MB, so they use at most a third of the memory. */
const maxAllProcesses = Math.max(maxProcesses, Math.floor(totalmem() / (270 * 1024 ** 2)));

/** Limits the number of processes. If the limit is reached, ends the process that has been idle for longest. */
export class ProcessRoom {
  readonly #max: number;
  /** Process → how to end it, the longest idle first. */
  readonly #idle = new Map<object, () => void>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #leaving = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Waits until one more process may start. */
  async acquire(): Promise<void> {
    if (this.#taken < this.#max) {
      this.#taken += 1;
      return;
    }
    const released = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#makeRoom();
    await released;
  }

  /** The process has ended. */
  release(process: object): void {
    this.#idle.delete(process);
    this.#leaving = Math.max(0, this.#leaving - 1);
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken -= 1;
  }

  /** The process is idle; `end` ends it if another one needs its room. */
  idle(process: object, end: () => void): void {
    this.#idle.set(process, end);
    this.#makeRoom();
  }

  /** The process is no longer idle. */
  busy(process: object): void {
    this.#idle.delete(process);
  }

  #makeRoom(): void {
    for (const [process, end] of this.#idle) {
      if (this.#leaving >= this.#waiting.length) return;
      this.#leaving += 1;
      this.#idle.delete(process);
      end();
    }
  }
}

/** The processes of one function, and the invocations that wait for a process. */
class FunctionPool {
  readonly #waiting: Invocation[] = [];
  readonly #free = new Map<FunctionProcess, (invocation: Invocation) => void>();
  readonly #processes = new Set<FunctionProcess>();
  readonly #start: (pool: FunctionPool) => Promise<FunctionProcess>;
  readonly #room: ProcessRoom;
  #starting = 0;
  #stopped = false;

  constructor(room: ProcessRoom, start: (pool: FunctionPool) => Promise<FunctionProcess>) {
    this.#room = room;
    this.#start = start;
  }

  invoke(event: unknown): Promise<string> {
    return new Promise((resolve, reject) => {
      const invocation = { id: randomUUID(), event: JSON.stringify(event), resolve, reject };
      const [free] = this.#free;
      if (free) {
        this.#free.delete(free[0]);
        this.#room.busy(free[0]);
        free[1](invocation);
      } else {
        this.#waiting.push(invocation);
        this.#grow();
      }
    });
  }

  next(process: FunctionProcess): Promise<Invocation> {
    const invocation = this.#waiting.shift();
    if (invocation) return Promise.resolve(invocation);
    return new Promise((resolve) => {
      this.#free.set(process, resolve);
      this.#room.idle(process, () => {
        this.#free.delete(process);
        void process.stop();
      });
    });
  }

  ended(process: FunctionProcess, beforeFirst: boolean, detail: string): void {
    this.#free.delete(process);
    if (!this.#processes.delete(process)) return;
    this.#room.release(process);
    if (beforeFirst) this.#rejectWaiting(detail);
    else if (this.#waiting.length > 0 && !this.#stopped) this.#grow();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#processes].map((process) => process.stop()));
    this.#rejectWaiting('Basalt is stopping');
  }

  #grow(): void {
    if (this.#starting >= this.#waiting.length || this.#processes.size + this.#starting >= maxProcesses) return;
    this.#starting += 1;
    this.#begin()
      .catch((error: unknown) => this.#rejectWaiting(String(error)))
      .finally(() => {
        this.#starting -= 1;
      });
  }

  async #begin(): Promise<void> {
    await this.#room.acquire();
    try {
      if (this.#stopped) throw new Error('Basalt is stopping');
      this.#processes.add(await this.#start(this));
    } catch (error) {
      this.#room.release(this);
      throw error;
    }
  }

  #rejectWaiting(detail: string): void {
    for (const invocation of this.#waiting.splice(0)) invocation.reject(new Error(detail));
  }
}

export interface Bundled {
  readonly invoke: Invoke;
  stop(): Promise<void>;
}

/**
 * Runs the bundles in `folder` (`<area>-<name>/index.mjs`), each function in processes of its own. The first process
 * starts on the first request, further ones for concurrent requests. Their environment consists of `settings` only.
 */
export const bundled = (folder: string, settings: NodeJS.ProcessEnv): Bundled => {
  const pools = new Map<string, FunctionPool>();
  const room = new ProcessRoom(maxAllProcesses);
  const poolOf = (name: string): FunctionPool => {
    let pool = pools.get(name);
    if (!pool) {
      pool = new FunctionPool(room, (owner) =>
        startFunctionProcess(name, path.join(folder, name), settings, {
          next: (process) => owner.next(process),
          ended: (process, beforeFirst, detail) => owner.ended(process, beforeFirst, detail),
        }),
      );
      pools.set(name, pool);
    }
    return pool;
  };
  return {
    invoke: async (name, event) => JSON.parse(await poolOf(name).invoke(event)) as FunctionResult,
    stop: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.stop()));
    },
  };
};
