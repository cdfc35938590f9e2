/** Billed quantities of a request or a month. Also the keys of a price file. */
export const units = [
  'lambdaRequests',
  'lambdaGbSeconds',
  'dynamoWriteUnits',
  'dynamoReadUnits',
  'sqsRequests',
  's3Writes',
  's3Reads',
  'mongoCommands',
  'mongoCpuSeconds',
] as const;
export type Unit = (typeof units)[number];
export type Quantities = Readonly<Record<Unit, number>>;

/** The memory size with one full CPU. With less memory, CPU costs the same GB-seconds. */
const gbPerProcessor = 1769 / 1024;

/** CPU of a request in process and engine (µs), and its commands, such as `mongodb find`. */
export interface Measured {
  readonly serverMicros: number;
  readonly engineMicros: number;
  readonly commands: readonly string[];
  readonly writes: number;
  readonly reads: number;
}

const s3Writes = /^s3 (?:Put|Copy|List|Create|Complete|Upload)/;
const s3Reads = /^s3 (?:Get|Head)/;

export const quantitiesOf = ({ serverMicros, engineMicros, commands, writes, reads }: Measured): Quantities => {
  const count = (kind: RegExp): number => commands.filter((command) => kind.test(command)).length;
  return {
    lambdaRequests: 1,
    lambdaGbSeconds: (serverMicros / 1e6) * gbPerProcessor,
    dynamoWriteUnits: writes,
    dynamoReadUnits: reads,
    sqsRequests: count(/^sqs /),
    s3Writes: count(s3Writes),
    s3Reads: count(s3Reads),
    mongoCommands: count(/^mongodb /),
    mongoCpuSeconds: engineMicros / 1e6,
  };
};

/** The assumed mix of requests of an app, by rows of the benchmark; the shares sum to 1. */
export const mix: Readonly<Record<string, number>> = {
  get: 0.4,
  'list 20 newest, with total': 0.2,
  'filter by an indexed field': 0.12,
  create: 0.08,
  update: 0.08,
  delete: 0.02,
  me: 0.06,
  refresh: 0.025,
  'log in': 0.005,
  'upload-request': 0.005,
  'upload-confirm': 0.004,
  'send mail': 0.001,
};

const secondsAMonth = 30 * 86_400;

/** The quantities of a month at this many requests of the mix per second. Throws if a row is missing. */
export const monthOf = (rows: Readonly<Record<string, Quantities>>, perSecond: number): Quantities =>
  Object.fromEntries(
    units.map((unit) => {
      const ofOne = Object.entries(mix).reduce((sum, [row, share]) => {
        const quantities = rows[row];
        if (!quantities) throw new Error(`The mix needs the row ${row}`);
        return sum + share * quantities[unit];
      }, 0);
      return [unit, ofOne * perSecond * secondsAMonth];
    }),
  ) as Quantities;

export type Prices = Readonly<Partial<Record<Unit, number>>>;

/**
 * Parses a price file: `{"lambdaRequests": 0.0000002, …}`, each for one unit. Throws for an unknown key and lists all.
 */
export const parsePrices = (text: string): Prices => {
  const prices = JSON.parse(text) as Record<string, unknown>;
  for (const [key, price] of Object.entries(prices)) {
    if (!units.includes(key as Unit)) throw new Error(`There is no price of ${key}; there are: ${units.join(', ')}`);
    if (typeof price !== 'number' || price < 0) throw new Error(`The price of ${key} is to be a number from 0 on`);
  }
  return prices;
};

export const priceOf = (quantities: Quantities, prices: Prices): number =>
  units.reduce((sum, unit) => sum + quantities[unit] * (prices[unit] ?? 0), 0);
