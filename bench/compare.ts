import { checkAgreement } from './agreement.ts';
import type { Contender } from './contender.ts';
import { type Cpu, measure, type Sample } from './load.ts';
import { type Compared, chosen, isPeer, type Name, names, type Operation, type Peer, peers } from './operation.ts';
import type { PocketBase } from './pocketbase/start.ts';
import { progress } from './progress.ts';
import { median } from './statistics.ts';

/** The servers to compare. `--quick` omits some, and some products cannot be installed everywhere. */
export type Contenders = Readonly<
  Partial<Record<Name, Contender>> & Record<'bare' | 'basalt', Contender> & { readonly pocketbase?: PocketBase }
>;

/** Medians of the ratios per round, if measured. */
export type Ratios = Readonly<Partial<Record<Name, number>>>;

/** Ratios of CPU per request: of the process, of the database engine, and of both. */
export interface CpuRatios {
  readonly server: Ratios;
  readonly engine: Ratios;
  readonly both: Ratios;
}

/** One operation's result: medians over the rounds, with ratios per round. */
export interface Outcome {
  readonly operation: Compared;
  readonly samples: Readonly<Partial<Record<Name, Sample>> & Record<'bare' | 'basalt', Sample>>;
  /** Ratio of requests per second to the bare server. */
  readonly toBare: Ratios;
  /** Ratio of CPU per request to the bare server. */
  readonly cpuToBare: CpuRatios;
  /** Ratio of requests per second to each product. */
  readonly toPeers: Readonly<Record<Peer, Ratios>>;
}

type Round = Outcome['samples'];

const medianOf = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length > 0 ? median(known) : undefined;
};

const middle = (samples: readonly Sample[]): Sample => ({
  client: samples[0]?.client ?? 'JavaScript',
  perSecond: median(samples.map(({ perSecond }) => perSecond)),
  p50: median(samples.map(({ p50 }) => p50)),
  p95: median(samples.map(({ p95 }) => p95)),
  cpu: {
    client: median(samples.map(({ cpu }) => cpu.client)),
    server: medianOf(samples.map(({ cpu }) => cpu.server)),
    engine: medianOf(samples.map(({ cpu }) => cpu.engine)),
    emulators: medianOf(samples.map(({ cpu }) => cpu.emulators)),
  },
});

/** CPU of a request in process and engine in µs; of the process only, if the engine's is unknown. */
export const bothOf = ({ server, engine = 0 }: Cpu): number | undefined =>
  server === undefined ? undefined : server + engine;

/** Medians of the ratios per round; none if a side is unknown or zero. */
const ratiosTo = (
  yardstick: 'bare' | Peer,
  rounds: readonly Round[],
  value: (sample: Sample) => number | undefined,
): Ratios =>
  Object.fromEntries(
    names.flatMap((name) => {
      const ratios = rounds.flatMap(({ [name]: sample, [yardstick]: beside }) => {
        const [part, whole] = [sample && value(sample), beside && value(beside)];
        return part !== undefined && whole ? [part / whole] : [];
      });
      return name === yardstick || ratios.length === 0 ? [] : [[name, median(ratios)]];
    }),
  );

const outcomeOf = (operation: Compared, rounds: readonly Round[]): Outcome => {
  const perSecond = (sample: Sample): number => sample.perSecond;
  return {
    operation,
    samples: Object.fromEntries(
      names.flatMap((name) => {
        const samples = rounds.flatMap((round) => round[name] ?? []);
        return samples.length > 0 ? [[name, middle(samples)]] : [];
      }),
    ) as unknown as Outcome['samples'],
    toBare: ratiosTo('bare', rounds, perSecond),
    cpuToBare: {
      server: ratiosTo('bare', rounds, ({ cpu }) => cpu.server),
      engine: ratiosTo('bare', rounds, ({ cpu }) => cpu.engine),
      both: ratiosTo('bare', rounds, ({ cpu }) => bothOf(cpu)),
    },
    toPeers: Object.fromEntries(peers.map((peer) => [peer, ratiosTo(peer, rounds, perSecond)])) as Outcome['toPeers'],
  };
};

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  /** Seconds of load before the first measurement of a contender. */
  readonly warmSeconds: number;
  /** Only measures operations whose names contain this. */
  readonly only: string;
}

/** After this many requests, the code is compiled. A contender that handles very few is slow for other reasons. */
const warmAfter = 2000;
const slow = 40;
const mostWarming = 4;

const measureOne = async (
  { prepare, usesUp, longer = 1 }: Operation,
  name: Name,
  target: Contender,
  { seconds, warmSeconds }: Plan,
  warm: boolean,
): Promise<Sample> => {
  const load = async (wanted: number): Promise<Sample> => measure(target, await prepare(name, target, wanted), wanted);
  if (!warm && !usesUp) {
    let answered = 0;
    for (let time = 0; time < mostWarming && answered < warmAfter; time++) {
      answered += (await load(warmSeconds * longer)).perSecond * warmSeconds * longer;
      if (answered < slow) break;
    }
  }
  return load(seconds * longer);
};

/**
 * Measures operations on every contender, round by round. The order rotates within a round, so that no contender is
 * always first.
 */
export const compare = async (
  contenders: Contenders,
  operations: readonly Operation[],
  plan: Plan,
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const operation of chosen(operations, plan.only)) {
    const there = names.filter(
      (name) => contenders[name] && (!isPeer(name) || (operation.peers?.includes(name) ?? false)),
    );
    await checkAgreement(contenders, operation, there);
    const done: Round[] = [];
    for (let round = 0; round < plan.rounds; round++) {
      const samples = new Map<Name, Sample>();
      for (let turn = 0; turn < there.length; turn++) {
        const name = there[(turn + round) % there.length] as Name;
        const target = contenders[name] as Contender;
        progress(`${operation.name}: round ${round + 1} of ${plan.rounds}, ${target.name}`);
        samples.set(name, await measureOne(operation, name, target, plan, round > 0));
      }
      done.push(Object.fromEntries(samples) as unknown as Round);
    }
    outcomes.push(outcomeOf(operation, done));
  }
  return outcomes;
};
