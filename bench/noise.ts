import { setTimeout as sleep } from 'node:timers/promises';
import { batchOf } from './mail.ts';
import { sampleBulk, sampleDocument } from './samples.ts';

/** What a project may do that keeps the database busy. */
export const noises = ['aggregations', 'bulks', 'imports', 'exports', 'webhooks', 'batches'] as const;
export type Noise = (typeof noises)[number];

/** How much of a noise was done so far, and how much was refused or ended unfinished. */
export interface NoiseCounts {
  readonly done: number;
  readonly refused: number;
}

/** A project that does it, as senders are told: where it is served, and its developer's token. */
export interface NoisyProject {
  readonly url: string;
  readonly projectId: string;
  readonly secretKey: string;
  readonly token: string;
  readonly collections: NoisyCollections;
}

/** Those of a noisy project; `fed` has a changes feed. */
export interface NoisyCollections {
  readonly collection: string;
  readonly more: string;
  readonly fed: string;
}

/** What senders are told. */
export type NoiseOrder =
  | { readonly begin: Noise; readonly project: NoisyProject }
  | { readonly tell: 'counts' | 'end' };

/** The project as they ask it. */
export interface Noisy extends NoisyCollections {
  readonly receiverUrl: string;
  /** Deliveries that came so far. */
  readonly received: () => number;
  /** Whether the public API answered a body 2xx. */
  readonly post: (path: string, body: string) => Promise<boolean>;
  /** Calls the dashboard API on a path of the project. */
  readonly dashboard: <T>(method: string, path: string, body?: unknown) => Promise<T>;
}

/** Each works through ten thousand steps a document, and ends where its five seconds do. */
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

/** Asks for a transfer of a collection and waits until it is done. */
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

/** Each is told of each document. */
const webhooks = 10;

/** Has so many webhooks told of a collection; returns how to end that. */
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

/** Makes documents and waits until all of them have been told of. */
const fanOut = async ({ fed, post, received }: Noisy, over: () => boolean): Promise<boolean> => {
  const due = received() + bulkSize * webhooks;
  const ok = await post(`/api/data/${fed}/bulk`, bulk);
  while (ok && received() < due && !over()) await sleep(10);
  return ok;
};

type Work = (noisy: Noisy, over: () => boolean, nth: number) => Promise<boolean>;

/** What is done over and over, by so many at once; `done` where one is more than one of what is counted. */
interface Kind {
  readonly atOnce: number;
  readonly once: Work;
  readonly done?: (noisy: Noisy) => number;
  /** Makes ready for it; returns how to end that. */
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

/** Begins with a noise; `stop` waits for what is under way. */
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
