import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isClientError } from '../../shared/core/errors.ts';

/** One parser, the inputs of its grammar, and what must hold. */
export interface Parser {
  readonly name: string;
  readonly check: (options: {
    readonly seed: number;
    readonly runs: number;
    readonly path?: string | undefined;
  }) => Promise<Fuzzed>;
}

export interface Fuzzed {
  readonly inputs: number;
  /** How many of them the parser accepted. */
  readonly accepted: number;
  /** Longest CPU time of one input, in ms. */
  readonly slowestMs: number;
  readonly failure: string | undefined;
}

/** CPU time of the thread, so that a busy machine does not matter. Inputs have up to 60,000 characters: quadratic time is longer. */
const maxMs = 1500;

const ownOfObject = Reflect.ownKeys(Object.prototype).length;

/** A key such as `__proto__` must not become a prototype, neither of all objects nor of a result. */
const requirePure = (value: unknown, depth = 0): void => {
  if (typeof value !== 'object' || value === null || depth > 70) return;
  const prototype: unknown = Object.getPrototypeOf(value);
  assert.ok(
    prototype === null || Object.hasOwn(prototype as object, 'constructor'),
    'A result has a foreign prototype',
  );
  if (ArrayBuffer.isView(value)) return;
  for (const inner of Object.values(value)) requirePure(inner, depth + 1);
};

/** Errors that are results: those of the contract, and the parser's own. */
type IsRefusal = (error: unknown) => boolean;

/** `parse` returns what it read, or throws an error of the contract; a failed assertion is a fault. */
export const parser = <I>(
  name: string,
  inputs: fc.Arbitrary<I>,
  parse: (input: I) => unknown,
  isRefusal: IsRefusal = () => false,
): Parser => ({
  name,
  check: async ({ seed, runs, path }) => {
    let [count, accepted, slowestMs] = [0, 0, 0];
    const property = fc.asyncProperty(inputs, async (input) => {
      count++;
      const begin = process.threadCpuUsage();
      try {
        requirePure(await parse(input));
        accepted++;
      } catch (error) {
        if (!isClientError(error) && !isRefusal(error)) throw error;
      }
      const { user, system } = process.threadCpuUsage(begin);
      const ms = (user + system) / 1000;
      slowestMs = Math.max(slowestMs, ms);
      assert.ok(ms < maxMs, `An input took ${Math.round(ms)} ms of CPU`);
      assert.equal(Reflect.ownKeys(Object.prototype).length, ownOfObject, 'The prototype of all objects changed');
    });
    const details = await fc.check(property, { seed, numRuns: runs, ...(path !== undefined && { path }) });
    const failure = details.failed ? `${details.errorInstance}\n${fc.defaultReportMessage(details)}` : undefined;
    return { inputs: count, accepted, slowestMs, failure };
  },
});
