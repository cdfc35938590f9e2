import { progress } from './progress.ts';
import { median } from './statistics.ts';

/** Work that is no request, or is compared with something else than the bare server; per second. */
export interface Pair {
  readonly name: string;
  /** What it stands beside. */
  readonly besides: string;
  readonly beside: number;
  readonly basalt: number;
  readonly ratio: number;
}

interface Both {
  readonly beside: number;
  readonly basalt: number;
}

/** Measures both sides in every round; medians of the speeds, and of the ratios of each round. */
export const comparePair = async (
  labels: Pick<Pair, 'name' | 'besides'>,
  rounds: number,
  measureBoth: (round: number) => Promise<Both>,
): Promise<Pair> => {
  const done: Both[] = [];
  for (let round = 0; round < rounds; round++) {
    progress(`${labels.name}: round ${round + 1} of ${rounds}`);
    done.push(await measureBoth(round));
  }
  return {
    ...labels,
    beside: median(done.map(({ beside }) => beside)),
    basalt: median(done.map(({ basalt }) => basalt)),
    ratio: median(done.map(({ beside, basalt }) => basalt / beside)),
  };
};
