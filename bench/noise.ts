import { setTimeout as sleep } from 'node:timers/promises';
import { batchOf } from './mail.ts';
import { sampleBulk, sampleDocument } from './samples.ts';

/** Kinds of work that keep the database busy. */
export const noises = ['aggregations', 'bulks', 'imports', 'exports', 'webhooks', 'batches'] as const;
export type Noise = (typeof noises)[number];

/** Completed work, and the number of rejected or unfinished requests. */
export interface NoiseCounts {
  readonly done: number;
  readonly refused: number;
}

/** A noisy project: its address and its developer's token. */
export interface NoisyProject {
  readonly url: string;
  readonly projectId: string;
  readonly secretKey: string;
  readonly token: string;
  readonly collections: NoisyCollections;
}

/** The collections of a noisy project; `fed` has a changes feed. */
export interface NoisyCollections {
  readonly collection: string;
  readonly more: string;
  readonly fed: string;
}

export type NoiseOrder =
  | { readonly begin: Noise; readonly project: NoisyProject }
  | { readonly tell: 'counts' | 'end' };

/** A client of the project. */
export interface Noisy extends NoisyCollections {
  readonly receiverUrl: string;
  /** Received deliveries. */
  readonly received: () => number;
  /** True if the public API returned 2xx for a body. */
  readonly post: (path: string, body: string) => Promise<boolean>;
  /** Calls the dashboard API below the project's path. */
  readonly dashboard: <T>(method: string, path: string, body?: unknown) => Promise<T>;
}

/** Each runs ten thousand steps per document, until its limit of 5 s. */
const aggregation = JSON.stringify({
  pipeline: [
    {
      $set: {
        sum: {
          $reduce: {
            input: { $range: [0, 10_000] },
            initialValue: 0,
            in: { $add: ['$$value', { $mod: ['$$this', 7] }] },
          },
        },
      },
    },
    { $group: { _id: null, sum: { $sum: '$sum' } } },
  ],
});

const bulk = JSON.stringify(sampleBulk(0));
const bulkSize = 100;
const batch = batchOf(100);
const lines = Array.from({ length: 3000 }, (_, index) => JSON.stringify(sampleDocument(index))).join('\n');

interface Transfer {
  readonly data: { readonly _id: string; readonly state: string };
}

/** Starts an export or import and waits until it is done. */
const transfer = async (
  { dashboard }: Noisy,
  path: `${string}/${'imports' | 'exports'}`,
  body: object,
  over: () => boolean,
): Promise<boolean> => {
  let { data } = await dashboard<Transfer>('POST', `/collections/${path}`, body);
  while (data.state === 'queued' || data.state === 'running') {
    await sleep(100);
    ({ data } = await dashboard<Transfer>('GET', `/collections/${path}/${data._id}`));
    if (over() && data.state === 'queued') return false;
  }
  return data.state === 'done';
};

/** Each receives each document. */
const webhooks = 10;

/** Subscribes webhooks to a collection. Returns the function that removes them. */
const listen = async ({ dashboard, fed, receiverUrl }: Noisy): Promise<() => Promise<void>> => {
  const settings = { url: receiverUrl, events: ['document.created'], collections: [fed] };
  const ids: string[] = [];
  for (let index = 0; index < webhooks; index++) {
    const { data } = await dashboard<{ readonly data: { readonly _id: string } }>('POST', '/webhooks', settings);
    ids.push(data._id);
  }
  return async () => {
    for (const id of ids) await dashboard('DELETE', `/webhooks/${id}`);
  };
};

/** Creates documents and waits until all deliveries have arrived. */
const fanOut = async ({ fed, post, received }: Noisy, over: () => boolean): Promise<boolean> => {
  const due = received() + bulkSize * webhooks;
  const ok = await post(`/api/data/${fed}/bulk`, bulk);
  while (ok && received() < due && !over()) await sleep(10);
  return ok;
};

type Work = (noisy: Noisy, over: () => boolean, nth: number) => Promise<boolean>;

/** A repeated action and its concurrency; `done` if one action counts as several. */
interface Kind {
  readonly atOnce: number;
  readonly once: Work;
  readonly done?: (noisy: Noisy) => number;
  /** Prepares it and returns the clean-up function. */
  readonly prepare?: (noisy: Noisy) => Promise<() => Promise<void>>;
}

const kinds: Readonly<Record<Noise, Kind>> = {
  aggregations: { atOnce: 8, once: ({ post, collection }) => post(`/api/data/${collection}/aggregate`, aggregation) },
  bulks: { atOnce: 8, once: ({ post, more }) => post(`/api/data/${more}/bulk`, bulk) },
  imports: {
    atOnce: 2,
    once: (noisy, over, nth) => {
      const name = nth === 0 ? noisy.collection : noisy.more;
      return transfer(noisy, `${name}/imports`, { format: 'ndjson', content: lines }, over);
    },
  },
  exports: {
    atOnce: 2,
    once: (noisy, over, nth) => {
      const name = nth === 0 ? noisy.collection : noisy.more;
      return transfer(noisy, `${name}/exports`, { format: 'ndjson' }, over);
    },
  },
  webhooks: { atOnce: 1, once: fanOut, done: ({ received }) => received(), prepare: listen },
  batches: { atOnce: 8, once: ({ post }) => post('/api/mail/send-batch', batch) },
};

/** Starts a load; `stop` waits for running actions. */
export const sendNoise = async (noisy: Noisy, noise: Noise) => {
  const { atOnce, once, done: doneOf, prepare } = kinds[noise];
  const end = await prepare?.(noisy);
  let [done, refused, over] = [0, 0, false];
  const senders = Array.from({ length: atOnce }, async (_, nth) => {
    while (!over) {
      if (await once(noisy, () => over, nth)) done += 1;
      else refused += 1;
    }
  });
  const ended = Promise.all(senders);
  ended.catch(() => undefined);
  return {
    counts: (): NoiseCounts => ({ done: doneOf?.(noisy) ?? done, refused }),
    stop: async (): Promise<void> => {
      over = true;
      await ended;
      await end?.();
    },
  };
};
