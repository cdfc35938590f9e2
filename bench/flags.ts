import { parseArgs } from 'node:util';
import type { Plan } from './compare.ts';
import type { Name } from './operation.ts';

/** What `npm run bench -- …` is to do. */
export interface Flags extends Plan {
  /** Prints the database commands of each operation instead of its speed. */
  readonly commands: boolean;
  /** Who is measured. */
  readonly names: readonly Name[];
  /** How many documents the large collection has; 0 measures no depth. */
  readonly large: number;
  /** Measures what is no request as well. */
  readonly pairs: boolean;
}

const everybody: readonly Name[] = ['bare', 'basalt', 'counted', 'blocks', 'peer'];
const fewer: readonly Name[] = ['bare', 'basalt', 'counted', 'peer'];

/** Reads the arguments; `--quick` is a first look of about two minutes. */
export const parseFlags = (): Flags => {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      commands: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      large: { type: 'string' },
      only: { type: 'string', default: '' },
    },
  });
  const { quick, commands, only } = values;
  return {
    commands,
    only,
    names: quick || commands ? fewer : everybody,
    rounds: Number(values.rounds ?? (quick ? 1 : 3)),
    seconds: Number(values.seconds ?? (quick ? 0.5 : 2)),
    warmSeconds: quick ? 0.5 : 1,
    large: Number(values.large ?? (quick ? 0 : 1_000_000)),
    pairs: !quick,
  };
};
