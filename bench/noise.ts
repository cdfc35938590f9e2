import { setTimeout as sleep } from 'node:timers/promises';
import type { Contender } from './contender.ts';
import { sampleMail } from './mail.ts';
import { sampleBulk, sampleDocument } from './samples.ts';
import type { Bed } from './seed.ts';

/** What a project may do that keeps the database busy. */
export const noises = ['aggregations', 'bulks', 'imports', 'batches'] as const;
export type Noise = (typeof noises)[number];

/** A project that does it, and two of its collections. */
export interface Noisy {
  readonly contender: Contender;
  readonly bed: Bed;
  readonly collection: string;
  readonly more: string;
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
const batch = JSON.stringify(
  Array.from({ length: 100 }, (_, index) => ({ ...sampleMail, to: `reader-${index}@example.com` })),
);
const lines = Array.from({ length: 3000 }, (_, index) => JSON.stringify(sampleDocument(index))).join('\n');

/** Whether it was answered 2xx. */
const post = async ({ url, headers }: Contender, path: string, body: string): Promise<boolean> => {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  await response.text();
  return response.ok;
};

interface Import {
  readonly data: { readonly _id: string; readonly state: string };
}

/** Imports three thousand documents into a collection and waits until they are there. */
const importInto = async ({ dashboard, projectId }: Bed, collection: string, over: () => boolean): Promise<boolean> => {
  const base = `/api/projects/${projectId}/collections/${collection}/imports`;
  let { data } = await dashboard<Import>('POST', base, { format: 'ndjson', content: lines });
  while (data.state === 'queued' || data.state === 'running') {
    await sleep(100);
    ({ data } = await dashboard<Import>('GET', `${base}/${data._id}`, undefined));
    if (over() && data.state === 'queued') return false;
  }
  return data.state === 'done';
};

type Work = (over: () => boolean) => Promise<boolean>;

/** What is done over and over, by so many at once. */
const kinds: Readonly<Record<Noise, { readonly atOnce: number; readonly once: (noisy: Noisy, nth: number) => Work }>> =
  {
    aggregations: {
      atOnce: 8,
      once:
        ({ contender, collection }) =>
        () =>
          post(contender, `/api/data/${collection}/aggregate`, aggregation),
    },
    bulks: {
      atOnce: 8,
      once:
        ({ contender, more }) =>
        () =>
          post(contender, `/api/data/${more}/bulk`, bulk),
    },
    imports: {
      atOnce: 2,
      once:
        ({ bed, collection, more }, nth) =>
        (over) =>
          importInto(bed, nth === 0 ? collection : more, over),
    },
    batches: {
      atOnce: 8,
      once:
        ({ contender }) =>
        () =>
          post(contender, '/api/mail/send-batch', batch),
    },
  };

/** How much of a noise was done so far, and how much was refused or ended unfinished. */
export interface NoiseCounts {
  readonly done: number;
  readonly refused: number;
}

/** Begins with a noise; `stop` waits for what is under way. */
export const sendNoise = (noisy: Noisy, noise: Noise): { counts: () => NoiseCounts; stop: () => Promise<void> } => {
  const { atOnce, once } = kinds[noise];
  let [done, refused, over] = [0, 0, false];
  const senders = Array.from({ length: atOnce }, async (_, nth) => {
    const work = once(noisy, nth);
    while (!over) {
      if (await work(() => over)) done += 1;
      else refused += 1;
    }
  });
  const ended = Promise.all(senders);
  ended.catch(() => undefined);
  return {
    counts: () => ({ done, refused }),
    stop: async () => {
      over = true;
      await ended;
    },
  };
};
