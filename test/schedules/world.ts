import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import fc, { type Scheduler } from 'fast-check';
import { clock } from '../../shared/core/clock.ts';
import { AppError } from '../../shared/core/errors.ts';
import { JsonClient, ServiceError } from '../../shared/persistence/aws-client.ts';
import { FakeTable, heldByTransaction, transactionConflict } from './fake-table.ts';

/** What may happen to one attempt of a call to a store. A late request arrives after its sender gave up. */
type Fault = 'none' | 'request lost' | 'response lost' | 'late' | 'conflict' | 'crash before' | 'crash after';

const faults = ['request lost', 'response lost', 'late', 'conflict', 'crash before', 'crash after'] as const;
const secondsLater = [1, 3, 12, 40, 70];

/** A step of the plan: its fault, and by how many seconds the clock moves after it. Most steps have neither. */
const moves: readonly (readonly [Fault, number])[] = [
  ...Array.from({ length: 28 }, () => ['none', 0] as const),
  ...faults.flatMap((fault) => [[fault, 0] as const, [fault, 0] as const]),
  ...secondsLater.map((seconds) => ['none', seconds] as const),
];

export const plans = fc.array(fc.nat(moves.length - 1), { maxLength: 40 });

/** What became of an actor's work. `unknown`: it crashed, or no response came. */
export type Outcome<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'rejected'; readonly code: string }
  | { readonly kind: 'unknown' };

export interface Result<T> {
  outcome: Outcome<T>;
  /** True if a request of it arrived late, so that it may have changed something after its response said no. */
  isLate: boolean;
}

interface Actor {
  readonly world: World;
  /** In virtual ms. */
  begunAt: number;
  isDead: boolean;
  readonly result: { isLate: boolean };
}

class Crash extends Error {}

const noResponse = new Set<string>(['SERVICE_UNAVAILABLE', 'DATABASE_UNAVAILABLE']);

/** Maximum time of a call, its retry included; a late request arrives within the same time. */
const callMs = 4000;
/** API Gateway and the functions end a request after 30 s. */
const requestMs = 30_000;
const startMs = Date.UTC(2026, 2, 10, 12);

const actors = new AsyncLocalStorage<Actor>();
let current: World | undefined;

/** One run: a scheduler decides which of the pending calls is next, a plan what happens to it. Time is virtual. */
export class World {
  readonly table = new FakeTable();
  now = startMs;
  /** Calls that reached a store. */
  operations = 0;
  /** Checked after each of them. */
  always: () => void = () => undefined;
  readonly #scheduler: Scheduler;
  readonly #plan: readonly number[];
  #step = 0;
  #drawn = 1;
  #problem: unknown;

  constructor(scheduler: Scheduler, plan: readonly number[]) {
    this.#scheduler = scheduler;
    this.#plan = plan;
  }

  #do<T>(act: () => T): T {
    this.operations++;
    try {
      return act();
    } finally {
      this.#guard(this.always);
    }
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#problem ??= error;
    }
  }

  /** Waits until the scheduler chooses this step. */
  async #turn(actor: Actor, label: string): Promise<void> {
    if (actor.isDead) throw new Crash();
    await this.#scheduler.schedule(Promise.resolve(), label);
    if (this.now - actor.begunAt > requestMs) actor.isDead = true;
    if (actor.isDead) throw new Crash();
  }

  async #attempt<T>(actor: Actor, label: string, act: () => T, conflict?: () => Error): Promise<T> {
    const calledAt = this.now;
    const [fault, seconds] = moves[this.#plan[this.#step++] ?? 0] ?? ['none', 0];
    await this.#turn(actor, fault === 'none' ? label : `${label}: ${fault}`);
    const isInTime = () => this.now - calledAt <= callMs;
    try {
      if (fault === 'request lost' || !isInTime()) throw new Error('No response');
      if (fault === 'late') {
        actor.result.isLate = true;
        const arrives = this.#scheduler.schedule(Promise.resolve(), `${label}: arrives`);
        void arrives.then(() => isInTime() && this.#do(act)).catch(() => undefined);
        throw new Error('No response');
      }
      if (fault === 'conflict' && conflict) throw conflict();
      if (fault === 'crash before') throw new Crash();
      const result = this.#do(act);
      if (fault === 'crash after') throw new Crash();
      if (fault === 'response lost') throw new Error('No response');
      return result;
    } catch (error) {
      if (error instanceof Crash) actor.isDead = true;
      throw error;
    } finally {
      this.now += seconds * 1000;
    }
  }

  /** A call to a store by the current actor; the preparations and checks of a model have none, and no faults. */
  async call<T>(label: string, act: () => T, conflict?: () => Error, tries = 1): Promise<T> {
    const actor = actors.getStore();
    if (!actor) return act();
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(actor, label, act, conflict);
      } catch (error) {
        if (error instanceof ServiceError || error instanceof AppError || actor.isDead || attempt === tries)
          throw error;
      }
    }
  }

  /** The table's client tries a request two times. */
  send(operation: string, input: object): Promise<object> {
    const isTransaction = operation.startsWith('Transact');
    const conflict = isTransaction ? transactionConflict : heldByTransaction;
    const canConflict = isTransaction || /^(Put|Update|Delete)/.test(operation);
    return this.call(operation, () => this.table.send(operation, input), canConflict ? conflict : undefined, 2);
  }

  /** A number from 0 to below `below`; each world has the same sequence. */
  draw(below: number): number {
    this.#drawn = (this.#drawn * 48_271) % 2_147_483_647;
    return this.#drawn % below;
  }

  async sleep(ms: number): Promise<void> {
    const actor = actors.getStore();
    const end = this.now + ms;
    if (actor) await this.#turn(actor, 'sleep');
    this.now = Math.max(this.now, end);
  }

  /** Runs `work` as a process of its own. The outcome is known after `finish`. */
  actor<T>(work: () => Promise<T>): Result<T> {
    const result: Result<T> = { outcome: { kind: 'unknown' }, isLate: false };
    const actor: Actor = { world: this, begunAt: this.now, isDead: false, result };
    const run = async () => {
      await this.#scheduler.schedule(Promise.resolve(), 'start');
      actor.begunAt = this.now;
      const value = await work();
      if (!actor.isDead) result.outcome = { kind: 'value', value };
    };
    actors.run(actor, run).catch((error: unknown) => {
      if (actor.isDead) return;
      if (!(error instanceof AppError)) this.#problem ??= error;
      else if (!noResponse.has(error.code)) result.outcome = { kind: 'rejected', code: error.code };
    });
    return result;
  }

  /**
   * True unless the actor that called it first has crashed or reached its limit: a dead process holds nothing. Called by
   * an actor.
   */
  aliveness(): () => boolean {
    const actor = actors.getStore();
    return () => actor !== undefined && !actor.isDead && this.now - actor.begunAt <= requestMs;
  }

  /** Lets all actors finish. Throws what `always` found. */
  async finish(): Promise<void> {
    while (this.#scheduler.count() > 0) {
      await this.#scheduler.waitNext(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (this.#problem !== undefined) throw this.#problem;
  }

  /** `act` with this world's clock and stores. */
  async run(act: () => Promise<void>): Promise<void> {
    current = this;
    try {
      await act();
    } finally {
      current = undefined;
    }
  }
}

const worldNow = (): World => {
  const world = actors.getStore()?.world ?? current;
  if (!world) throw new Error('No world runs');
  return world;
};

/**
 * Replaces the client of the table, the clock, pauses and chance of this process by those of the world that runs, so that
 * a seed gives the same schedule. The returned function undoes it.
 */
export const installWorlds = (): (() => void) => {
  const secrets = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const settings = {
    AWS_REGION: 'eu-central-1',
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
    LOG: 'silent',
  };
  Object.assign(process.env, secrets, settings);
  const [{ send }, { now }, { random }] = [JsonClient.prototype, clock, Math];
  const [{ setTimeout }, { randomInt }, { stackTraceLimit }] = [timers, crypto, Error];
  // Stacks would take a fifth of the time.
  Error.stackTraceLimit = 0;
  Object.assign(JsonClient.prototype, { send: (name: string, input: object) => worldNow().send(name, input) });
  Object.assign(clock, { now: () => worldNow().now });
  Object.assign(Math, { random: () => (current ? 0.5 : random()) });
  Object.assign(timers, { setTimeout: (ms: number) => worldNow().sleep(ms) });
  Object.assign(crypto, { randomInt: (below: number) => worldNow().draw(below) });
  syncBuiltinESMExports();
  return () => {
    Object.assign(Error, { stackTraceLimit });
    Object.assign(JsonClient.prototype, { send });
    Object.assign(clock, { now });
    Object.assign(Math, { random });
    Object.assign(timers, { setTimeout });
    Object.assign(crypto, { randomInt });
    syncBuiltinESMExports();
  };
};

export const valuesOf = <T>(all: readonly Result<T>[]): readonly T[] =>
  all.flatMap(({ outcome }) => (outcome.kind === 'value' ? [outcome.value] : []));

export const unknownOf = (all: readonly Result<unknown>[]): number =>
  all.filter(({ outcome }) => outcome.kind === 'unknown').length;
