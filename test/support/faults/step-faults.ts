import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { ConnectionFault } from './fault.ts';
import { isChange, nameOf, type System } from './outgoing-command.ts';
import { FaultProxy, type ProxyTarget } from './proxy.ts';

/**
 * What happens at one outgoing command of an operation:
 * - `stop`: it is cut in the middle, and its system is down until the operation has ended
 * - `crash`: the same, and every system is down, so that nothing can tidy up either, as when the process dies
 * - `lose`: it is done, its answer is lost, and its system is down
 * - `blip`: it is done, and only its answer is lost
 * - `late`: the client is cut off and its system is down; it is done after the operation has ended
 * - `hang`: its system is silent until the operation has ended; then it is done
 * - `slow`: it arrives after more time than one try is given, at the latest when the operation has ended
 */
export type StepFault = 'stop' | 'crash' | 'lose' | 'blip' | 'late' | 'hang' | 'slow';

/** The command at which the fault happened. */
export interface Hit {
  readonly system: System;
  readonly name: string;
}

export interface Armed {
  readonly fault: StepFault;
  /** The how-manieth command, from 0. */
  readonly at: number;
  /** Counts only commands that change something. */
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

/** Ways to every system that an operation uses, on which exactly one of its commands meets a fault. */
export class StepFaults {
  readonly #proxies: FaultProxy[] = [];
  readonly #down = new Set<System>();
  readonly #silent = new Set<System>();
  #armed: Armed | undefined;
  #count = 0;
  #hit: Hit | undefined;

  /** Opens a way to a system; answers its port on loopback. */
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
   * Waits until the operation has nothing under way any more, ends the fault, and tells where it was; `undefined`:
   * nowhere.
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

  /**
   * Time alone says nothing where this process stood still: what has come meanwhile is read after its timers have run.
   */
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
