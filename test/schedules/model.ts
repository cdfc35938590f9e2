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
  /** The smallest schedule that fails. */
  readonly failure: string | undefined;
  /** Repeats it with the seed: the path of the schedule before it was made smaller, as schedulers do not repeat that. */
  readonly path: string | undefined;
}

export const model = <I>(
  name: string,
  inputs: fc.Arbitrary<I>,
  run: (world: World, input: I) => Promise<void>,
): Model => ({
  name,
  check: async ({ seed, runs, path: given }) => {
    let [schedules, operations] = [0, 0];
    const property = fc.asyncProperty(fc.scheduler(), plans, inputs, async (scheduler, plan, input) => {
      const world = new World(scheduler, plan);
      await world.run(() => run(world, input));
      schedules++;
      operations += world.operations;
    });
    const details = await fc.check(property, { seed, numRuns: runs, ...(given !== undefined && { path: given }) });
    const failure = details.failed ? `${details.errorInstance}\n${fc.defaultReportMessage(details)}` : undefined;
    return { schedules, operations, failure, path: details.counterexamplePath?.split(':', 1)[0] };
  },
});

export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
