import { table } from '../report.ts';
import { monthOf, type Prices, priceOf, type Quantities, type Unit, units } from './quantities.ts';

/** Quantities of each row, as saved. */
export type Rows = Readonly<Record<string, Quantities>>;

const loads = [1, 100, 10_000];

const heads: Readonly<Record<Unit, string>> = {
  lambdaRequests: 'Lambda runs',
  lambdaGbSeconds: 'Lambda GB-s',
  dynamoWriteUnits: 'DynamoDB writes',
  dynamoReadUnits: 'reads',
  sqsRequests: 'SQS',
  s3Writes: 'S3 puts',
  s3Reads: 'gets',
  mongoCommands: 'MongoDB commands',
  mongoCpuSeconds: 'CPU s',
};

const short = (value: number): string => {
  if (value === 0) return '';
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
};

/** The usage of a million requests per row. */
const ofRows = (rows: Rows): string =>
  table([
    ['a million requests', ...units.map((unit) => heads[unit])],
    ...Object.entries(rows).map(([row, quantities]) => [row, ...units.map((unit) => short(quantities[unit] * 1e6))]),
  ]);

const ofMonths = (rows: Rows): string =>
  table([
    ['a month of the mix', ...units.map((unit) => heads[unit])],
    ...loads.map((load) => {
      const month = monthOf(rows, load);
      return [`${load.toLocaleString('en-US')}/s`, ...units.map((unit) => short(month[unit]))];
    }),
  ]);

/** Ratios of the mix to an earlier run. */
const ofBefore = (rows: Rows, before: Rows): string => {
  const [now, then] = [monthOf(rows, 1), monthOf(before, 1)];
  const ratio = (unit: Unit): string => (then[unit] === 0 ? '' : (now[unit] / then[unit]).toFixed(2));
  return table([
    ['the mix beside the earlier run', ...units.map((unit) => heads[unit])],
    ['ratio', ...units.map(ratio)],
  ]);
};

const ofPrices = (rows: Rows, prices: Prices, before: Rows | undefined): string =>
  table([
    ['a month of the mix', 'price', ...(before ? ['of the earlier run', 'ratio'] : [])],
    ...loads.map((load) => {
      const price = priceOf(monthOf(rows, load), prices);
      const then = before && priceOf(monthOf(before, load), prices);
      const beside = then === undefined ? [] : [then.toFixed(2), (price / then).toFixed(2)];
      return [`${load.toLocaleString('en-US')}/s`, price.toFixed(2), ...beside];
    }),
  ]);

/** All tables as Markdown. */
export const renderCosts = (rows: Rows, prices: Prices | undefined, before: Rows | undefined): string[] => [
  ofRows(rows),
  ofMonths(rows),
  ...(before ? [ofBefore(rows, before)] : []),
  ...(prices ? [ofPrices(rows, prices, before)] : []),
];
