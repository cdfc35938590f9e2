import type { Chart, ChartRow } from './chart.ts';
import type { Outcome, Ratios } from './compare.ts';

const besideBare: readonly (readonly [keyof Ratios, string])[] = [
  ['basalt', 'Basalt'],
  ['counted', 'Basalt, each request counted'],
];
const besidePeers: readonly (readonly [keyof Ratios, string])[] = [
  ['basalt', 'Basalt'],
  ['counted', 'Basalt, each request counted'],
  ['parse', 'Parse Server'],
  ['pocketbase', 'PocketBase'],
];

const rowsOf = (
  outcomes: readonly Outcome[],
  called: readonly (readonly [keyof Ratios, string])[],
  ratiosOf: (outcome: Outcome) => { readonly ratios: Ratios; readonly aim: number | undefined },
): ChartRow[] => {
  const rows = outcomes.map((outcome): ChartRow => {
    const { area, name } = outcome.operation;
    const { ratios, aim } = ratiosOf(outcome);
    const bars = called.flatMap(([key, label]) =>
      ratios[key] === undefined ? [] : [{ name: label, ratio: ratios[key] }],
    );
    return { area, label: name, bars, ...(aim !== undefined && { aim }) };
  });
  return [...Map.groupBy(rows, ({ area }) => area).values()].flat();
};

/** CPU per request. */
export const cpuChart = (outcomes: readonly Outcome[]): Chart => ({
  title: 'CPU of a request beside a bare server',
  subtitle: 'Of the process and of MongoDB, as a multiple of a bare node:http + driver server; shorter is better.',
  rows: rowsOf(outcomes, besideBare, ({ cpuToBare, operation }) => ({
    ratios: cpuToBare.both,
    aim: operation.aim?.cpu,
  })),
});

/** Requests per second, for operations that another product has. */
export const speedChart = (outcomes: readonly Outcome[]): Chart => ({
  title: 'Requests per second beside the peers',
  subtitle: 'As a share of a bare node:http + driver server; longer is better. The aim is 1.3 times Parse Server.',
  rows: rowsOf(
    outcomes.filter(({ samples }) => samples.parse ?? samples.pocketbase),
    besidePeers,
    ({ toBare, operation }) => ({
      ratios: toBare,
      aim: toBare.parse && operation.aim?.parse && operation.aim.parse * toBare.parse,
    }),
  ),
});
