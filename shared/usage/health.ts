import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { ObjectId } from 'mongodb';
import { ShortCache } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { mailQueueSettings, version, webhookQueueSettings, workQueueSettings } from '../core/config.ts';
import { describeError, log } from '../core/log.ts';
import { itemKey, partitionKey } from '../persistence/item-keys.ts';
import { onControl } from '../persistence/mongo.ts';
import { timed } from '../persistence/mongo-commands.ts';
import { onFiles } from '../persistence/s3.ts';
import { askQueue } from '../persistence/sqs.ts';
import { write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { derivedKey } from '../projects/sealed.ts';

const partLimitMs = 2000;

/** Repeated checks within this time use the cached result. */
const cacheMs = 2000;

const nobody = new ObjectId('0'.repeat(24));

/** A write, because requests need the table for writes. Beside the rate counters, which every function may write. */
const touchTable = (): Promise<unknown> =>
  write({
    update: itemKey(kinds.health, partitionKey('rate', { source: 'health' })),
    change: 'SET expiresAt = :expires',
    values: { expires: Math.ceil(clock.now() / 1000) + 3600 },
  });

/** The cheapest operation that proves each part works. */
const parts = {
  mongodb: () => onControl((db) => db.collection('projects').findOne({ _id: nobody }, { maxTimeMS: partLimitMs })),
  dynamodb: touchTable,
  files: () => onFiles((s3, Bucket) => s3.send(new HeadBucketCommand({ Bucket }))),
  queues: () =>
    Promise.all(
      [
        mailQueueSettings().MAIL_QUEUE_URL,
        workQueueSettings().WORK_QUEUE_URL,
        webhookQueueSettings().WEBHOOK_QUEUE_URL,
      ].map(askQueue),
    ),
  encryption: () => derivedKey('sealed v1'),
} as const;

type PartName = keyof typeof parts;

const checkPart = async (name: PartName) => {
  const start = performance.now();
  const ms = () => Math.round(performance.now() - start);
  try {
    await timed<unknown>(partLimitMs, parts[name]);
    return { ok: true, ms: ms() };
  } catch (error) {
    log.error({ message: 'A part of the service does not respond', part: name, error: describeError(error) });
    return { ok: false, ms: ms() };
  }
};

/** `degraded` if any part is not `ok`. */
export type Health = Awaited<ReturnType<typeof check>>;

const check = async () => {
  const names = Object.keys(parts) as PartName[];
  const checked = await Promise.all(names.map(async (name) => [name, await checkPart(name)] as const));
  const isOk = checked.every(([, { ok }]) => ok);
  return { status: isOk ? ('ok' as const) : ('degraded' as const), version, parts: Object.fromEntries(checked) };
};

const checks = new ShortCache<Health>(cacheMs, 1);

/** Takes about 2 s at most; cached for 2 s. Causes are logged. */
export const checkHealth = (): Promise<Health> => checks.get('', check);
