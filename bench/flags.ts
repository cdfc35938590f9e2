import { readArguments } from '../scripts/read-arguments.ts';
import type { Plan } from './compare.ts';
import { type Name, names } from './operation.ts';

/** Files of `npm run costs`: prices, quantities of an earlier run, and where to write those of this one. */
export interface CostFiles {
  readonly prices?: string;
  readonly beside?: string;
  readonly save?: string;
}

/** What `npm run bench -- …` is to do. */
export interface Flags extends Plan {
  /** Prints the database commands of each operation instead of its speed. */
  readonly commands: boolean;
  /** Prints what each operation is billed for instead. */
  readonly costs: CostFiles | undefined;
  /** Who is measured. */
  readonly names: readonly Name[];
  /** How many documents the large collection has; 0 measures no depth. */
  readonly large: number;
  /** Measures what is no request as well. */
  readonly pairs: boolean;
}

const others: readonly Name[] = names.filter((name) => name !== 'bare' && name !== 'basalt');
const withCommands: readonly Name[] = ['counted', 'parse'];
const withCosts: readonly Name[] = ['counted', 'metered'];

const parseNames = (text: string): Name[] => {
  const wanted = text.split(',').filter(Boolean);
  const unknown = wanted.filter((name) => !others.includes(name as Name));
  if (unknown.length > 0) throw new Error(`--with takes ${others.join(', ')}, not ${unknown.join(', ')}`);
  return others.filter((name) => wanted.includes(name));
};

const usage = `Usage: npm run bench -- [--quick] [--only=<row>] [--with=${others.join()}] [--rounds=3] [--seconds=2] [--large=1000000] [--commands]
       npm run costs -- [--prices=<file>] [--beside=<file>] [--save=<file>] [--only=<row>]
Measures the service beside a bare server and its peers, or what each route is billed for.
  --quick      a first look of two minutes at the service beside the bare server; with --only of twenty seconds
  --only       one row alone, such as get
  --with       who is measured besides, with commas between; all of them unless given
  --rounds     how often each is measured, in turns
  --seconds    how long each time
  --large      documents of the large collection; 0 measures none
  --commands   the database commands of each row instead
  --prices     a file with prices of AWS
  --beside     a file that --save wrote, to show ratios to
  --save       a file for what was measured`;

/**
 * Reads the arguments. `--quick` is a first look of about two minutes at Basalt beside the bare server alone; with
 * `--only` it takes twenty seconds, five rounds of one row. `--with=counted,blocks,parse,pocketbase` adds others.
 */
export const parseFlags = (): Flags => {
  const { values } = readArguments(usage, {
    options: {
      quick: { type: 'boolean', default: false },
      commands: { type: 'boolean', default: false },
      costs: { type: 'boolean', default: false },
      prices: { type: 'string' },
      beside: { type: 'string' },
      save: { type: 'string' },
      with: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      large: { type: 'string' },
      only: { type: 'string', default: '' },
    },
  });
  const { quick, commands, only } = values;
  const { prices, beside, save } = values;
  const costs = values.costs
    ? { ...(prices && { prices }), ...(beside && { beside }), ...(save && { save }) }
    : undefined;
  const usual = commands ? withCommands : costs ? withCosts : others;
  const more = values.with === undefined && !quick ? usual : parseNames(values.with ?? '');
  const quickRounds = only === '' ? 1 : 5;
  return {
    commands,
    costs,
    only,
    names: ['bare', 'basalt', ...more],
    rounds: Number(values.rounds ?? (quick ? quickRounds : 3)),
    seconds: Number(values.seconds ?? (quick ? 1 : 2)),
    warmSeconds: 1,
    large: Number(values.large ?? (quick ? 0 : 1_000_000)),
    pairs: !quick,
  };
};
