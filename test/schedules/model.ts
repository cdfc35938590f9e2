import fc from 'fast-check';
import { plans, World } from './world.ts';

/** A property of `shared/` and how one schedule of it runs. `run` throws if the property does not hold. */
export interface Model {
  readonly name: string;
  readonly check: (options: CheckOptions) => Promise<Checked>;
}

export interface CheckOptions {
  readonly seed: number;
  readonly runs: number;
  /** Of a failure, to repeat it. */
  readonly path?: string | undefined;
}

export interface Checked {
  readonly schedules: number;
  readonly operations: number;
  /** The smallest schedule that fails, with seed and path. */
  readonly failure: string | undefined;
}

export const model = <I>(
  name: string,
  inputs: fc.Arbitrary<I>,
  run: (world: World, input: I) => Promise<void>,
): Model => ({
  name,
  check: async ({ seed, runs, path }) => {
    let [schedules, operations] = [0, 0];
    const property = fc.asyncProperty(fc.scheduler(), plans, inputs, async (scheduler, plan, input) => {
      const world = new World(scheduler, plan);
      await world.run(() => run(world, input));
      schedules++;
      operations += world.operations;
    });
    const details = await fc.check(property, { seed, numRuns: runs, ...(path !== undefined && { path }) });
    const failure = details.failed ? `${details.errorInstance}\n${fc.defaultReportMessage(details)}` : undefined;
    return { schedules, operations, failure };
  },
});

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
