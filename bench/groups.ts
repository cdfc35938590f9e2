import type { Group } from './chart.ts';
import type { Outcome, Ratios } from './compare.ts';
import type { Pair } from './pairs.ts';

const called: readonly (readonly [keyof Ratios, string])[] = [
  ['basalt', 'rate counting off'],
  ['counted', 'each request counted'],
  ['blocks', 'counted in blocks'],
  ['parse', 'Parse Server'],
  ['pocketbase', 'PocketBase'],
];

/** The bars of the chart, those of an area together; Parse Server stands beside where it has the operation. */
export const groupsOf = (outcomes: readonly Outcome[], pairs: readonly Pair[]): Group[] => {
  const groups: Group[] = [
    ...outcomes.map(({ operation: { area, name }, toBare }) => ({
      area,
      label: name,
      bars: called.flatMap(([key, label]) => {
        const ratio = toBare[key];
        return ratio === undefined ? [] : [{ name: label, ratio }];
      }),
    })),
    ...pairs.map(({ area, name, ratio }) => ({ area, label: name, bars: [{ name: 'rate counting off', ratio }] })),
  ];
  return [...Map.groupBy(groups, ({ area }) => area).values()].flat();
};
