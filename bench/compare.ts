import type { Db } from 'mongodb';
import type { Contender } from './contender.ts';
import { measure, type Sample } from './load.ts';
import { type Operation, operations } from './operations.ts';
import { progress } from './progress.ts';
import { fill, idsOf } from './seed.ts';
import { median } from './statistics.ts';

export interface Contenders {
  readonly bare: Contender;
  readonly basalt: Contender;
  readonly counted: Contender;
}

/** One operation's result: medians over the rounds, ratios taken round by round. */
export interface Outcome {
  readonly operation: Pick<Operation, 'name' | 'aim'>;
  readonly bare: Sample;
  readonly basalt: Sample;
  readonly counted: Sample;
  readonly ratio: number;
  readonly countedRatio: number;
  /** CPU of Basalt's process a request, in the bare server's. */
  readonly cpuRatio: number;
}

export type Name = keyof Contenders;
/** The collection of a contender for operations that change its size. */
export const writesOf = (name: string): string => `${name}-writes`;

type Round = Readonly<Record<Name, Sample>>;

const names: readonly Name[] = ['bare', 'basalt', 'counted'];

/** More documents than a server can delete in the time, so that every request finds one. */
const deletionsPerSecond = 9000;

const middle = (samples: readonly Sample[]): Sample => ({
  perSecond: median(samples.map(({ perSecond }) => perSecond)),
  p50: median(samples.map(({ p50 }) => p50)),
  p95: median(samples.map(({ p95 }) => p95)),
  cpuMicros: median(samples.map(({ cpuMicros }) => cpuMicros)),
});

const outcomeOf = (operation: Outcome['operation'], rounds: readonly Round[]): Outcome => ({
  operation,
  bare: middle(rounds.map(({ bare }) => bare)),
  basalt: middle(rounds.map(({ basalt }) => basalt)),
  counted: middle(rounds.map(({ counted }) => counted)),
  ratio: median(rounds.map(({ bare, basalt }) => basalt.perSecond / bare.perSecond)),
  countedRatio: median(rounds.map(({ bare, counted }) => counted.perSecond / bare.perSecond)),
  cpuRatio: median(rounds.map(({ bare, basalt }) => basalt.cpuMicros / bare.cpuMicros)),
});

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  /** Part of an operation's name, to measure only that. */
  readonly only: string;
}

/** Measures operations on every contender, round by round; within a round the order turns, so that nobody is always first. */
export const compareBy = async <O extends Outcome['operation']>(
  contenders: Contenders,
  operations: readonly O[],
  { rounds, only }: Plan,
  measureOne: (operation: O, name: Name) => Promise<Sample>,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const operation of operations.filter(({ name }) => name.includes(only))) {
    const done: Round[] = [];
    for (let round = 0; round < rounds; round++) {
      const samples = new Map<Name, Sample>();
      for (let turn = 0; turn < names.length; turn++) {
        const name = names[(turn + round) % names.length] as Name;
        progress(`${operation.name}: round ${round + 1} of ${rounds}, ${contenders[name].name}`);
        samples.set(name, await measureOne(operation, name));
      }
      done.push(Object.fromEntries(samples) as unknown as Round);
    }
    outcomes.push(outcomeOf(operation, done));
  }
  return outcomes;
};

/** Compares what is done with documents. */
export const compareOperations = (contenders: Contenders, database: Db, plan: Plan): Promise<Outcome[]> =>
  compareBy(contenders, operations, plan, async (operation, name) => {
    const collection = operation.changesSize ? writesOf(name) : name;
    const shrinks = operation.changesSize === 'shrinks';
    const documents = database.collection(collection);
    if (shrinks) await fill(documents, Math.ceil(deletionsPerSecond * plan.seconds), () => undefined);
    const ids = await idsOf(documents, shrinks ? Number.MAX_SAFE_INTEGER : 10_000);
    const request = operation.request(collection, ids);
    if (!shrinks) await measure(contenders[name], request, 1);
    return measure(contenders[name], request, plan.seconds);
  });
