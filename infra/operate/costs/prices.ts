/** A price for each unit, by how many are used in a month: `[up to so many, price]`, the last without end. */
export type Tiers = readonly (readonly [upTo: number, price: number])[];

const flat = (price: number): Tiers => [[Number.POSITIVE_INFINITY, price]];
const rest = Number.POSITIVE_INFINITY;
const million = 1e6;
const TB = 1000;

/** Region and date of the prices below, in US dollars, without tax, free tiers and discounts. */
export const pricesOf = { region: 'us-east-1 (N. Virginia)', date: 'list prices of 2025' } as const;

/** What a part costs, by its unit: a request, a GB, a GB-second, an hour, a month. */
export const prices = {
  gatewayRequest: [
    [300 * million, 1 / million],
    [rest, 0.9 / million],
  ],
  functionRequest: flat(0.2 / million),
  armGbSecond: [
    [7500 * million, 0.0000133334],
    [18_750 * million, 0.0000120001],
    [rest, 0.0000106667],
  ],
  x86GbSecond: [
    [6000 * million, 0.0000166667],
    [15_000 * million, 0.000015],
    [rest, 0.0000133334],
  ],
  tableWrite: flat(0.625 / million),
  tableRead: flat(0.125 / million),
  /** Stored, and stored once more for point-in-time recovery. */
  tableGb: flat(0.25 + 0.2),
  logGb: flat(0.5),
  storedLogGb: flat(0.03),
  queueRequest: flat(0.4 / million),
  storedGb: flat(0.023),
  put: flat(0.005 / 1000),
  edgeRequest: flat(0.01 / 10_000),
  edgeFunction: flat(0.1 / million),
  edgeGb: [
    [10 * TB, 0.085],
    [50 * TB, 0.08],
    [150 * TB, 0.06],
    [500 * TB, 0.04],
    [rest, 0.03],
  ],
  outGb: [
    [10 * TB, 0.09],
    [50 * TB, 0.085],
    [150 * TB, 0.07],
    [rest, 0.05],
  ],
  /** Between functions and a cluster in the same region, by public addresses. */
  regionGb: flat(0.01),
  secret: flat(0.4),
  alarmMetric: flat(0.1),
  ownMetric: flat(0.3),
  natHour: flat(0.045),
  natGb: flat(0.045),
  addressHour: flat(0.005),
} as const satisfies Readonly<Record<string, Tiers>>;

/** Dedicated clusters of MongoDB Atlas on AWS, dollars an hour. */
export const clusters = { M10: 0.08, M30: 0.54, M60: 3.95 } as const;

/** What so many units cost in a month. */
export const costOf = (tiers: Tiers, units: number): number => {
  let cost = 0;
  let from = 0;
  for (const [upTo, price] of tiers) {
    cost += Math.max(0, Math.min(units, upTo) - from) * price;
    from = upTo;
  }
  return cost;
};
