import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Db } from 'mongodb';
import { mailRuns } from '../shared/mail/queue.ts';
import { type Contender, startContender } from './contender.ts';
import { type InstantProvider, startProvider } from './instant-provider.ts';
import { resetMailQuota, sampleMail } from './mail.ts';
import { comparePair, type Pair } from './pairs.ts';
import { makeQueues } from './queues.ts';

const count = 400;
/** The limit of a provider for one account; real ones are lower. */
const providerRate = 10;
const limitedCount = 50;
const atOnce = 16;

export interface DeliveryBed {
  readonly env: Readonly<Record<string, string>>;
  readonly projectId: string;
  readonly secretKey: string;
  readonly database: Db;
}

let queues = 0;

/** Each delivery gets its own queue, because an emulated queue may pass messages to workers that have ended. */
const newQueue = async ({ env }: DeliveryBed): Promise<string> => {
  const [queue = ''] = await makeQueues(env.AWS_ENDPOINT_URL ?? '', [`delivery-${++queues}`]);
  return queue;
};

/** Makes a contender accept this many emails. */
const accept = async ({ url, headers }: Contender, mails: number): Promise<void> => {
  let left = mails;
  const sender = async (): Promise<void> => {
    while (left-- > 0) {
      const response = await fetch(`${url}/api/mail/send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(sampleMail),
      });
      if (!response.ok) throw new Error(`A mail was answered ${response.status} ${await response.text()}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, sender));
};

const acceptBare = async ({ database }: DeliveryBed, QueueUrl: string): Promise<void> => {
  const mails = Array.from({ length: count }, () => ({ ...sampleMail, status: 'queued', createdAt: new Date() }));
  const { insertedIds } = await database.collection('bare-mails').insertMany(mails);
  const ids = Object.values(insertedIds).map(String);
  const sqs = new SQSClient({});
  for (let start = 0; start < ids.length; start += 10) {
    const Entries = ids.slice(start, start + 10).map((MessageBody, index) => ({ Id: String(index), MessageBody }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  }
  sqs.destroy();
};

/** Runs as many workers as a deployment until the provider has this many emails. Returns when each arrived (ms). */
const deliver = async (
  file: string,
  env: Readonly<Record<string, string>>,
  provider: InstantProvider,
  mails: number,
): Promise<readonly number[]> => {
  const taken = provider.taken(mails);
  const workers: ChildProcess[] = Array.from({ length: mailRuns }, () =>
    fork(path.join(import.meta.dirname, file), { env: { ...process.env, ...env } }),
  );
  const ended = Promise.all(workers.map((worker) => once(worker, 'exit')));
  const times = await Promise.race([taken, ended.then(() => undefined)]);
  for (const worker of workers) if (worker.connected) worker.disconnect();
  await ended;
  if (!times) throw new Error(`${file} ended before all mails were delivered`);
  return times;
};

/** Emails per second, without the first fifth, during which the workers warm up. */
const speedOf = (times: readonly number[]): number => {
  const first = Math.floor(times.length / 5);
  return ((times.length - 1 - first) * 1000) / ((times.at(-1) ?? 0) - (times[first] ?? 0));
};

const maxPerSecond = (times: readonly number[]): number =>
  Math.max(...times.map((time) => times.filter((other) => other >= time && other < time + 1000).length));

/** Makes Basalt accept and then deliver emails, at most `perSecond`; without limit for 0. */
const deliverBasalt = async (
  bed: DeliveryBed,
  provider: InstantProvider,
  mails: number,
  perSecond: number,
): Promise<readonly number[]> => {
  const MAIL_QUEUE_URL = await newQueue(bed);
  const env = { ...bed.env, RATE_LIMIT: '0', MAIL_QUEUE_URL };
  await resetMailQuota(bed.env.TABLE_NAME ?? '', bed.projectId);
  const filler = await startContender('filler', 'basalt-server.ts', env, { 'x-api-key': bed.secretKey });
  try {
    await accept(filler, mails);
  } finally {
    filler.stop();
  }
  const limits = { MAIL_PROVIDER_URL: provider.url, MAIL_PER_SECOND: String(perSecond) };
  return deliver('mail-worker.ts', { ...env, ...limits }, provider, mails);
};

const deliverBare = async (bed: DeliveryBed, provider: InstantProvider): Promise<readonly number[]> => {
  const queue = await newQueue(bed);
  await acceptBare(bed, queue);
  const names = { BENCH_QUEUE: queue, BENCH_DATABASE: bed.database.databaseName, MAIL_PROVIDER_URL: provider.url };
  return deliver('bare-mail-worker.ts', { ...bed.env, ...names }, provider, count);
};

/**
 * How well deliveries respect the provider's limit: requested and reached emails per second, and the maximum in any
 * second.
 */
export interface LimitedDelivery {
  readonly asked: number;
  readonly reached: number;
  readonly most: number;
}

/** Emails per second from the queue to a provider without limit, and to one with ten per second. */
export const measureDelivery = async (
  bed: DeliveryBed,
  rounds: number,
): Promise<{ readonly free: Pair; readonly limited: LimitedDelivery }> => {
  const provider = await startProvider();
  const labels = { name: 'deliver mail, provider at once', besides: 'bare worker' };
  try {
    const free = await comparePair(labels, rounds, async () => ({
      beside: speedOf(await deliverBare(bed, provider)),
      basalt: speedOf(await deliverBasalt(bed, provider, count, 0)),
    }));
    const times = await deliverBasalt(bed, provider, limitedCount, providerRate);
    return { free, limited: { asked: providerRate, reached: speedOf(times), most: maxPerSecond(times) } };
  } finally {
    provider.stop();
  }
};
