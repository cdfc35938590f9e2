import type { Db } from 'mongodb';
import type { Contender } from './contender.ts';
import { measure, type Sample } from './load.ts';
import { type Compared, type Operation, operations } from './operations.ts';
import { progress } from './progress.ts';
import { fill, idsOf } from './seed.ts';
import { median } from './statistics.ts';

export interface Contenders {
  readonly bare: Contender;
  /** Counts no requests. */
  readonly basalt: Contender;
  /** Counts each request by itself. */
  readonly counted: Contender;
  /** Counts requests in blocks. */
  readonly blocks: Contender;
}

/** One operation's result: medians over the rounds, ratios taken round by round. */
export interface Outcome {
  readonly operation: Compared;
  readonly bare: Sample;
  readonly basalt: Sample;
  readonly ratio: number;
  readonly countedRatio: number;
  readonly blocksRatio: number;
}

export type Name = keyof Contenders;
/** The collection of a contender for operations that change its size. */
export const writesOf = (name: string): string => `${name}-writes`;

type Round = Readonly<Record<Name, Sample>>;

const names: readonly Name[] = ['bare', 'basalt', 'counted', 'blocks'];

/** More documents than a server can delete in the time, so that every request finds one. */
const deletionsPerSecond = 9000;

const middle = (samples: readonly Sample[]): Sample => ({
  perSecond: median(samples.map(({ perSecond }) => perSecond)),
  p50: median(samples.map(({ p50 }) => p50)),
  p95: median(samples.map(({ p95 }) => p95)),
  cpuMicros: median(samples.map(({ cpuMicros }) => cpuMicros)),
});

const outcomeOf = (operation: Compared, rounds: readonly Round[]): Outcome => ({
  operation,
  bare: middle(rounds.map(({ bare }) => bare)),
  basalt: middle(rounds.map(({ basalt }) => basalt)),
  ratio: median(rounds.map(({ bare, basalt }) => basalt.perSecond / bare.perSecond)),
  countedRatio: median(rounds.map(({ bare, counted }) => counted.perSecond / bare.perSecond)),
  blocksRatio: median(rounds.map(({ bare, blocks }) => blocks.perSecond / bare.perSecond)),
});

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  /** Part of an operation's name, to measure only that. */
  readonly only: string;
}

/** How one contender is measured once; `warm` is false the first time, when it has to be warmed up before. */
export type Measuring<O> = (operation: O, name: Name, warm: boolean) => Promise<Sample>;

/** Measures operations on every contender, round by round; within a round the order turns, so that nobody is always first. */
export const compareBy = async <O extends Compared>(
  contenders: Contenders,
  operations: readonly O[],
  { rounds, only }: Plan,
  measureOne: Measuring<O>,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const operation of operations.filter(({ name }) => name.includes(only))) {
    const done: Round[] = [];
    for (let round = 0; round < rounds; round++) {
      const samples = new Map<Name, Sample>();
      for (let turn = 0; turn < names.length; turn++) {
        const name = names[(turn + round) % names.length] as Name;
        progress(`${operation.name}: round ${round + 1} of ${rounds}, ${contenders[name].name}`);
        samples.set(name, await measureOne(operation, name, round > 0));
      }
      done.push(Object.fromEntries(samples) as unknown as Round);
    }
    outcomes.push(outcomeOf(operation, done));
  }
  return outcomes;
};

/** Compares what is done with documents. */
export const compareOperations = (contenders: Contenders, database: Db, plan: Plan): Promise<Outcome[]> =>
  compareBy<Operation>(contenders, operations, plan, async (operation, name, warm) => {
    const collection = operation.changesSize ? writesOf(name) : name;
    const shrinks = operation.changesSize === 'shrinks';
    const documents = database.collection(collection);
    if (shrinks) await fill(documents, Math.ceil(deletionsPerSecond * plan.seconds), () => undefined);
    const ids = await idsOf(documents, shrinks ? Number.MAX_SAFE_INTEGER : 10_000);
    const request = operation.request(collection, ids);
    if (!shrinks && !warm) await measure(contenders[name], request, 1);
    return measure(contenders[name], request, plan.seconds);
  });
