/** What is billed for a request, or for a month of them. Also the keys of a file of prices, each for one of them. */
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

/** Lambda gives one processor with so much memory, and its share with less: CPU costs as many GB-seconds either way. */
const gbPerProcessor = 1769 / 1024;

/** CPU of a request in its process and in the engine (µs), and the commands that it sent: `mongodb find`. */
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

/** What an app is taken to ask for: shares of its requests, by the rows of the benchmark; together 1. */
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

/** The quantities of a month at so many requests a second of the mix; a row of it that is missing throws. */
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
 * Reads a file of prices: `{"lambdaRequests": 0.0000002, …}`, of one each; an unknown key is an error that names all.
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
