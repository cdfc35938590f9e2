import type { Data } from '../../api/rows.ts';
import type { Point } from '../../ui/chart.tsx';

export type Day = NonNullable<Data<'get-request-stats'>['days']>[number];

/** Responses with a status of 400 or more. */
export const errorsOf = ({ statuses }: Pick<Day, 'statuses'>): number =>
  Object.entries(statuses).reduce((sum, [status, count]) => sum + (Number(status) >= 400 ? count : 0), 0);

/** The number of requests to these routes. */
export const askedOf = ({ routes }: Pick<Day, 'routes'>, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (routes[name] ?? 0), 0);

/** One number per day. */
export const pointsOf = (days: readonly Day[], numberOf: (day: Day) => number): readonly Point[] =>
  days.map((day) => ({ label: day.day, value: numberOf(day) }));
