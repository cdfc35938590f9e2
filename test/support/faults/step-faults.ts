import { createServer, type Server } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { listen } from '../../../infra/local/ports.ts';
import { isChange, nameOf, type System } from './outgoing-command.ts';
import type { ProxyTarget } from './proxy.ts';
import { type Step, StepLink } from './step-link.ts';

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

const steps: Readonly<Record<StepFault, Step>> = {
  stop: 'cut halfway',
  crash: 'cut halfway',
  lose: 'lose the answer',
  blip: 'lose the answer',
  late: 'late',
  hang: 'hold',
  slow: 'delay',
};

const quietMs = 30;

/** Ways to every system that an operation uses, on which exactly one of its commands meets a fault. */
export class StepFaults {
  readonly #servers: Server[] = [];
  readonly #links = new Set<StepLink>();
  readonly #down = new Set<System>();
  readonly #silent = new Set<System>();
  #armed: Armed | undefined;
  #count = 0;
  #hit: Hit | undefined;
  #activeAt = 0;

  /** Opens a way to a system; answers its port on loopback. */
  async open(system: System, target: ProxyTarget): Promise<number> {
    const server = createServer((client) => {
      const touch = (): void => {
        this.#activeAt = performance.now();
      };
      const link = new StepLink(client, target, (chunk) => this.#decide(system, chunk), touch);
      this.#links.add(link);
      client.on('close', () => {
        if (this.#armed === undefined) this.#links.delete(link);
      });
    });
    this.#servers.push(server);
    return listen(server, 0);
  }

  arm(armed: Armed): void {
    this.#armed = armed;
    this.#count = 0;
    this.#hit = undefined;
  }

  #decide(system: System, chunk: Buffer): Step {
    if (this.#down.has(system)) return 'cut';
    if (this.#silent.has(system)) return 'hold';
    const name = nameOf(system, chunk);
    if (!this.#armed || this.#hit || name === undefined) return 'pass';
    if (this.#armed.changesOnly && !isChange(system, name)) return 'pass';
    if (this.#count++ < this.#armed.at) return 'pass';
    this.#hit = { system, name };
    return this.#begin(this.#armed.fault, system);
  }

  #begin(fault: StepFault, system: System): Step {
    if (fault === 'hang') this.#silent.add(system);
    else if (fault === 'crash') for (const each of systems) this.#down.add(each);
    else if (fault !== 'blip' && fault !== 'slow') this.#down.add(system);
    return steps[fault];
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
    await Promise.all([...this.#links].map((link) => link.release()));
    await this.#quiet();
    return hit;
  }

  /**
   * Time alone says nothing where this process stood still: what has come meanwhile is read after its timers have run.
   */
  async #quiet(): Promise<void> {
    for (let idle = false; ; ) {
      const leftMs = quietMs - (performance.now() - this.#activeAt);
      if (leftMs <= 0 && idle) return;
      idle = leftMs <= 0;
      await pause(Math.max(5, leftMs));
      await nextTurn();
      await nextTurn();
    }
  }

  close(): void {
    for (const link of this.#links) link.close();
    for (const server of this.#servers) server.close();
  }
}

const systems: readonly System[] = ['mongodb', 'dynamodb', 's3', 'sqs', 'provider', 'lambda', 'own database'];
