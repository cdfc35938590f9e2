import type { Data } from '../../api/rows.ts';
import type { Point } from '../../ui/chart.tsx';

export type Day = NonNullable<Data<'get-request-stats'>['days']>[number];

/** Answers of 400 and more. */
export const errorsOf = ({ statuses }: Pick<Day, 'statuses'>): number =>
  Object.entries(statuses).reduce((sum, [status, count]) => sum + (Number(status) >= 400 ? count : 0), 0);

/** How often these routes were asked. */
export const askedOf = ({ routes }: Pick<Day, 'routes'>, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (routes[name] ?? 0), 0);

/** A number of each day, by its day. */
export const pointsOf = (days: readonly Day[], numberOf: (day: Day) => number): readonly Point[] =>
  days.map((day) => ({ label: day.day, value: numberOf(day) }));
