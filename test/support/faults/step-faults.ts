import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { ConnectionFault } from './fault.ts';
import { isChange, nameOf, type System } from './outgoing-command.ts';
import { FaultProxy, type ProxyTarget } from './proxy.ts';

/**
 * The fate of one outgoing command of an operation:
 * - `stop`: it is cut in the middle, and its system is down until the operation has ended
 * - `crash`: like `stop`, but every system is down, so that nothing can clean up, as if the process was killed
 * - `lose`: it is done, its response is lost, and its system is down
 * - `blip`: it is done, and only its response is lost
 * - `late`: the client is disconnected and its system is down; the command is done after the operation has ended
 * - `hang`: its system is silent until the operation has ended; then the command is done
 * - `slow`: it arrives later than the timeout of one attempt, at the latest when the operation has ended
 */
export type StepFault = 'stop' | 'crash' | 'lose' | 'blip' | 'late' | 'hang' | 'slow';

/** The command with the fault. */
export interface Hit {
  readonly system: System;
  readonly name: string;
}

export interface Armed {
  readonly fault: StepFault;
  /** The command's index, from 0. */
  readonly at: number;
  /** Counts only commands that change data. */
  readonly changesOnly: boolean;
}

const steps: Readonly<Record<StepFault, ConnectionFault>> = {
  stop: 'cut halfway',
  crash: 'cut halfway',
  lose: 'lose the answer',
  blip: 'lose the answer',
  late: 'late',
  hang: 'hang',
  slow: 'delay',
};

const quietMs = 30;

/** Proxies to all systems of an operation, with a fault at exactly one command. */
export class StepFaults {
  readonly #proxies: FaultProxy[] = [];
  readonly #down = new Set<System>();
  readonly #silent = new Set<System>();
  #armed: Armed | undefined;
  #count = 0;
  #hit: Hit | undefined;

  /** Opens a proxy to a system and returns its port. */
  async open(system: System, target: ProxyTarget): Promise<number> {
    const proxy = await FaultProxy.start(target);
    proxy.meet((chunk) => this.#decide(system, chunk));
    this.#proxies.push(proxy);
    return proxy.port;
  }

  arm(armed: Armed): void {
    this.#armed = armed;
    this.#count = 0;
    this.#hit = undefined;
  }

  #decide(system: System, chunk: Buffer): ConnectionFault | undefined {
    if (this.#down.has(system)) return 'cut';
    if (this.#silent.has(system)) return 'hang';
    const name = nameOf(system, chunk);
    if (!this.#armed || this.#hit || name === undefined) return undefined;
    if (this.#armed.changesOnly && !isChange(system, name)) return undefined;
    if (this.#count++ < this.#armed.at) return undefined;
    this.#hit = { system, name };
    this.#begin(this.#armed.fault, system);
    return steps[this.#armed.fault];
  }

  #begin(fault: StepFault, system: System): void {
    if (fault === 'hang') this.#silent.add(system);
    else if (fault === 'crash') for (const each of systems) this.#down.add(each);
    else if (fault !== 'blip' && fault !== 'slow') this.#down.add(system);
  }

  /**
   * Waits until nothing of the operation is running, ends the fault and returns its place; `undefined` if it did not
   * occur.
   */
  async heal(): Promise<Hit | undefined> {
    const hit = this.#hit;
    this.#armed = undefined;
    if (this.#silent.size === 0) await this.#quiet();
    this.#down.clear();
    this.#silent.clear();
    await Promise.all(this.#proxies.map((proxy) => proxy.release()));
    await this.#quiet();
    return hit;
  }

  /** After a pause of this process, timers run before received data are read, so elapsed time alone is not enough. */
  async #quiet(): Promise<void> {
    for (let idle = false; ; ) {
      const activeAt = Math.max(...this.#proxies.map((proxy) => proxy.activeAt));
      const leftMs = quietMs - (performance.now() - activeAt);
      if (leftMs <= 0 && idle) return;
      idle = leftMs <= 0;
      await pause(Math.max(5, leftMs));
      await nextTurn();
      await nextTurn();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}

const systems: readonly System[] = ['mongodb', 'dynamodb', 's3', 'sqs', 'provider', 'lambda', 'own database'];
