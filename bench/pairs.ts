import { progress } from './progress.ts';
import { median } from './statistics.ts';

/** Work per second that is not a request, or is compared with something else than the bare server. */
export interface Pair {
  readonly name: string;
  /** What it is compared with. */
  readonly besides: string;
  readonly beside: number;
  readonly basalt: number;
  readonly ratio: number;
}

interface Both {
  readonly beside: number;
  readonly basalt: number;
}

/** Measures both sides in every round. Returns medians of the speeds and of the ratios per round. */
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
