import { exitWithUsage, readArguments } from '../scripts/read-arguments.ts';
import type { Plan } from './compare.ts';
import { type Name, names } from './operation.ts';

/** Files of `npm run costs`: prices, quantities of an earlier run, and the output. */
export interface CostFiles {
  readonly prices?: string;
  readonly beside?: string;
  readonly save?: string;
}

export interface Flags extends Plan {
  /** Prints the database commands per operation instead of measuring. */
  readonly commands: boolean;
  /** Measures AWS usage instead of speed. */
  readonly costs: CostFiles | undefined;
  readonly names: readonly Name[];
  /** Documents in the large collection; 0 measures no depth. */
  readonly large: number;
  /** Also measures work outside of requests. */
  readonly pairs: boolean;
}

const others: readonly Name[] = names.filter((name) => name !== 'bare' && name !== 'basalt');
const withCommands: readonly Name[] = ['counted', 'parse'];
const withCosts: readonly Name[] = ['counted', 'metered'];

const usage = `Usage: npm run bench -- [--quick] [--only=<row>] [--with=${others.join()}] [--rounds=3] [--seconds=2] [--large=1000000] [--commands]
       npm run costs -- [--prices=<file>] [--beside=<file>] [--save=<file>] [--only=<row>]
Compares the speed of Basalt with a bare server and other products, or measures the AWS usage of each operation.
  --quick      compares only with the bare server, in 2 minutes; with --only in 20 seconds
  --only       measures one operation, such as get
  --with       the variants and products to compare, separated by commas (default: all)
  --rounds     how often each is measured
  --seconds    the duration of one measurement
  --large      the number of documents in the large collection; 0 skips its measurements
  --commands   prints the database commands of each operation instead
  --prices     a file with AWS prices
  --beside     a file of an earlier run with --save, to compare with
  --save       a file to write the results to`;

const parseNames = (text: string): Name[] => {
  const wanted = text.split(',').filter(Boolean);
  const unknown = wanted.filter((name) => !others.includes(name as Name));
  if (unknown.length > 0) exitWithUsage(`Unknown value ${unknown.join(', ')} of --with\n${usage}`);
  return others.filter((name) => wanted.includes(name));
};

const parseNumber = (option: string, text: string | undefined, fallback: number): number => {
  if (text === undefined) return fallback;
  return /^\d+(?:\.\d+)?$/.test(text)
    ? Number(text)
    : exitWithUsage(`--${option} must be a number, not ${text}\n${usage}`);
};

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
    rounds: parseNumber('rounds', values.rounds, quick ? quickRounds : 3),
    seconds: parseNumber('seconds', values.seconds, quick ? 1 : 2),
    warmSeconds: 1,
    large: parseNumber('large', values.large, quick ? 0 : 1_000_000),
    pairs: !quick,
  };
};
