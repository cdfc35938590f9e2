import { clusters, costOf, prices, type Tiers } from './prices.ts';

/** A part of the bill. */
export interface Part {
  readonly name: string;
  /** What is counted, and its price, for people. */
  readonly price: string;
  /** Dollars a month at so many requests a second. */
  readonly cost: (perSecond: number) => number;
}

const hoursAMonth = 720;
const secondsAMonth = hoursAMonth * 3600;

/** What a request is taken to be; the guide says why. */
const assumed = {
  /** Seconds that a function is busy with a data request, at 512 MiB on arm64. */
  dataSeconds: 0.02,
  /** Share of requests that hash a password: 0.3 s at 1 769 MiB on x86_64. */
  passwordShare: 0.02,
  passwordSeconds: 0.3,
  /** Written to the table for one of them: a session in a transaction, and its lockout. */
  passwordWrites: 5,
  answerBytes: 2000,
  mongodbBytes: 3000,
  /** Of the gateway's line and the function's, each with the 26 bytes that CloudWatch adds. */
  logBytes: 400,
  /** What is left of a log once CloudWatch has packed it. */
  packed: 0.15,
  /** Share of requests that send a mail, and what a mail asks of the queue. */
  mailShare: 0.001,
  queueRequestsPerMail: 4,
  /** What two queues are asked while nothing is on them. */
  pollsPerSecond: 0.5,
  /** Files that are looked at for one request, of 50 KB, and share of requests that put one up. */
  viewShare: 0.1,
  fileBytes: 50_000,
  uploadShare: 0.001,
} as const;

const GB = 1e9;
const memoryGb = 0.5;
const passwordMemoryGb = 1769 / 1024;

/** Function instances at work at once. */
const instancesAt = (r: number): number => r * (assumed.dataSeconds + assumed.passwordShare * assumed.passwordSeconds);

const monthly = (tiers: Tiers, perSecond: number): number => costOf(tiers, perSecond * secondsAMonth);

/** Every request is counted by a write; every instance adds its statistics once in ten seconds. */
const tableWrites = (r: number): number =>
  r + Math.min(r, Math.max(1, instancesAt(r)) / 10) + r * assumed.passwordShare * assumed.passwordWrites;

/** Ten files' worth for every request of a second, kept. */
const storedGb = (r: number): number => 2 * r + 10;

/** The smallest cluster that takes so many requests a second. */
const clusterFor = (r: number): keyof typeof clusters => (r <= 20 ? 'M10' : r <= 500 ? 'M30' : 'M60');

/** How many alarms the deployment has, counted by the metrics they read, and metrics of its own; a test counts them. */
export const watched = { alarmMetrics: 53, ownMetrics: 14, secrets: 6 } as const;

export const parts: readonly Part[] = [
  {
    name: 'API Gateway',
    price: '1 request: $1.00 a million, $0.90 above 300 million',
    cost: (r) => monthly(prices.gatewayRequest, r),
  },
  {
    name: 'Lambda, requests',
    price: '1 run: $0.20 a million',
    cost: (r) => monthly(prices.functionRequest, r),
  },
  {
    name: 'Lambda, data',
    price: '20 ms × 0.5 GB: $13.33 a million GB-s, less above 7.5 billion',
    cost: (r) => monthly(prices.armGbSecond, r * (1 - assumed.passwordShare) * assumed.dataSeconds * memoryGb),
  },
  {
    name: 'Lambda, passwords',
    price: '2 % × 300 ms × 1.73 GB: $16.67 a million GB-s',
    cost: (r) => monthly(prices.x86GbSecond, r * assumed.passwordShare * assumed.passwordSeconds * passwordMemoryGb),
  },
  {
    name: 'DynamoDB, writes',
    price: '1 to count the request, 0.1 for sessions, statistics: $0.625 a million',
    cost: (r) => monthly(prices.tableWrite, tableWrites(r)),
  },
  {
    name: 'DynamoDB, reads and storage',
    price: '0.02 reads: $0.125 a million; 10 MB a request/s: $0.45 a GB',
    cost: (r) => monthly(prices.tableRead, r * assumed.passwordShare) + costOf(prices.tableGb, r / 100),
  },
  {
    name: 'CloudWatch, logs',
    price: '400 bytes: $0.50 a GB taken in, $0.03 a GB kept',
    cost: (r) => {
      const gb = (r * secondsAMonth * assumed.logBytes) / GB;
      return costOf(prices.logGb, gb) + costOf(prices.storedLogGb, gb * assumed.packed);
    },
  },
  {
    name: 'CloudWatch, alarms',
    price: `${watched.alarmMetrics} alarm metrics: $0.10; ${watched.ownMetrics} metrics: $0.30`,
    cost: () => costOf(prices.alarmMetric, watched.alarmMetrics) + costOf(prices.ownMetric, watched.ownMetrics),
  },
  {
    name: 'Secrets Manager',
    price: `${watched.secrets} secrets: $0.40`,
    cost: () => costOf(prices.secret, watched.secrets),
  },
  {
    name: 'SQS',
    price: '0.001 mails × 4 requests, and polling: $0.40 a million',
    cost: (r) =>
      monthly(prices.queueRequest, r * assumed.mailShare * assumed.queueRequestsPerMail + assumed.pollsPerSecond),
  },
  {
    name: 'Traffic out',
    price: '2 KB: $0.09 a GB, less above 10 TB',
    cost: (r) => costOf(prices.outGb, (r * secondsAMonth * assumed.answerBytes) / GB),
  },
  {
    name: 'Traffic to MongoDB',
    price: '3 KB: $0.01 a GB',
    cost: (r) => costOf(prices.regionGb, (r * secondsAMonth * assumed.mongodbBytes) / GB),
  },
  {
    name: 'Files: S3',
    price: '10 GB, 2 GB a request/s: $0.023; 0.001 uploads × 2: $5 a million',
    cost: (r) => costOf(prices.storedGb, storedGb(r)) + monthly(prices.put, r * assumed.uploadShare * 2),
  },
  {
    name: 'Files: CloudFront',
    price: '0.1 views of 50 KB: $1.10 a million, $0.085 a GB, less above 10 TB',
    cost: (r) => {
      const views = r * assumed.viewShare;
      const gb = (views * secondsAMonth * assumed.fileBytes) / GB;
      return monthly(prices.edgeRequest, views) + monthly(prices.edgeFunction, views) + costOf(prices.edgeGb, gb);
    },
  },
  {
    name: 'MongoDB Atlas',
    price: 'M10 $0.08, M30 $0.54, M60 $3.95 an hour',
    cost: (r) => clusters[clusterFor(r)] * hoursAMonth,
  },
];

/** What `egress=nat` adds. */
export const natPart: Part = {
  name: 'with `egress=nat` besides',
  price: '2 gateways $0.045 an hour, 2 addresses $0.005 an hour, 3 KB: $0.045 a GB',
  cost: (r) =>
    costOf(prices.natHour, 2 * hoursAMonth) +
    costOf(prices.addressHour, 2 * hoursAMonth) +
    costOf(prices.natGb, (r * secondsAMonth * assumed.mongodbBytes) / GB),
};
