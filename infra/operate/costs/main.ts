import { natPart, type Part, parts } from './estimate.ts';
import { pricesOf } from './prices.ts';

const loads = [1, 100, 10_000];

const dollars = (cost: number): string => {
  const digits = cost < 100 ? 2 : 0;
  return cost.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
};

const row = ({ name, price, cost }: Part): string =>
  `| ${[name, price, ...loads.map((load) => dollars(cost(load)))].join(' | ')} |`;

const sum: Part = {
  name: '**Together**',
  price: '',
  cost: (load) => parts.reduce((total, { cost }) => total + cost(load), 0),
};

/** What a month costs, in dollars, as a table in Markdown: a part a row, a load a column. */
export const costTable = (): string => {
  const heads = ['Part', 'For one request, and its price', ...loads.map((load) => `${load.toLocaleString('en-US')}/s`)];
  return [`| ${heads.join(' | ')} |`, '|---|---|--:|--:|--:|', ...[...parts, sum, natPart].map(row)].join('\n');
};

if (import.meta.main) {
  console.log(`Dollars a month, ${pricesOf.region}, ${pricesOf.date}\n\n${costTable()}`);
}
