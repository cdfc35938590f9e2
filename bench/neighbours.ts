import { setTimeout as sleep } from 'node:timers/promises';
import { type Contender, startContender } from './contender.ts';
import { type LoadRequest, measure } from './load.ts';
import { resetMailQuota } from './mail.ts';
import { type Noise, type NoiseCounts, type Noisy, sendNoise } from './noise.ts';
import { counter, inTurn } from './operation.ts';
import { progress } from './progress.ts';
import { sampleDocument } from './samples.ts';
import { type Bed, connect, fill, idsOf, makeBed } from './seed.ts';
import { median } from './statistics.ts';

const documents = 10_000;
const collection = 'posts';

/** What a quiet project asks for: few requests at once, far below what the machine can do. */
const quiet = { connections: 2, perSecond: 20 } as const;

/** So many seconds hold one noise, and enough answers for a p95. */
const leastSeconds = 5;

/** How many times as long a quiet project's p95 may become. */
export const neighbourAim = 2;

type Row = 'get' | 'list' | 'create';

const rowsOf = (ids: readonly string[]): Readonly<Record<Row, LoadRequest>> => {
  const id = inTurn(ids);
  const index = counter();
  const base = `/api/data/${collection}`;
  return {
    get: { ...quiet, method: 'GET', path: () => `${base}/${id()}` },
    list: { ...quiet, method: 'GET', path: () => `${base}?limit=20` },
    create: { ...quiet, method: 'POST', path: () => base, body: () => JSON.stringify(sampleDocument(index())) },
  };
};

type Times = Readonly<Record<Row, number>>;

/** p95 of each kind of request in ms, all kinds at the same time. */
const timesOf = async (target: Contender, requests: Readonly<Record<Row, LoadRequest>>, seconds: number) => {
  const measured = Object.entries(requests).map(async ([row, request]) => {
    const { p95 } = await measure(target, request, seconds);
    return [row, p95] as const;
  });
  return Object.fromEntries(await Promise.all(measured)) as Times;
};

/** What one project's work does to another's requests. */
export interface Neighbour {
  readonly noise: Noise;
  readonly row: Row;
  /** p95 in ms, alone and beside the noise, and the median of the ratios of each round. */
  readonly quiet: number;
  readonly beside: number;
  readonly ratio: number;
  /** What the noisy project got done a second, and what was refused or ended unfinished. */
  readonly noisePerSecond: NoiseCounts;
}

export interface Street {
  readonly env: Readonly<Record<string, string>>;
  readonly dashboardUrl: string;
  readonly mongoUri: string;
}

interface Round {
  readonly quiet: Times;
  readonly beside: Times;
  readonly noisePerSecond: NoiseCounts;
}

const besideNoise = async (noisy: Noisy, noise: Noise, measureTimes: () => Promise<Times>): Promise<Round> => {
  const alone = await measureTimes();
  const running = sendNoise(noisy, noise);
  try {
    // What is under way at any time is there before anything is measured.
    await sleep(1000);
    const begin = { at: performance.now(), ...running.counts() };
    const beside = await measureTimes();
    const seconds = (performance.now() - begin.at) / 1000;
    const { done, refused } = running.counts();
    const noisePerSecond = { done: (done - begin.done) / seconds, refused: (refused - begin.refused) / seconds };
    return { quiet: alone, beside, noisePerSecond };
  } finally {
    await running.stop();
  }
};

const summed = (noise: Noise, rounds: readonly Round[]): Neighbour[] =>
  (['get', 'list', 'create'] as const).map((row) => ({
    noise,
    row,
    quiet: median(rounds.map((round) => round.quiet[row])),
    beside: median(rounds.map(({ beside }) => beside[row])),
    ratio: median(rounds.map((round) => round.beside[row] / round.quiet[row])),
    noisePerSecond: {
      done: median(rounds.map(({ noisePerSecond }) => noisePerSecond.done)),
      refused: median(rounds.map(({ noisePerSecond }) => noisePerSecond.refused)),
    },
  }));

/**
 * One project's requests, alone and while another project has the database work as hard as it may; no limit of requests
 * holds it back. Each project is served by a process of its own, as by function instances of its own: what they share
 * is the database, and here the machine.
 */
export const measureNeighbours = async (
  { env, dashboardUrl, mongoUri }: Street,
  { rounds, seconds, noises }: { readonly rounds: number; readonly seconds: number; readonly noises: readonly Noise[] },
): Promise<Neighbour[]> => {
  const [one, other]: [Bed, Bed] = [
    await makeBed(dashboardUrl, [collection]),
    await makeBed(dashboardUrl, [collection, 'more']),
  ];
  const client = await connect(mongoUri);
  for (const { database } of [one, other]) {
    await fill(client.db(database).collection(collection), documents, () => undefined);
  }
  const requests = rowsOf(await idsOf(client.db(one.database).collection(collection), documents));
  await client.close();
  await resetMailQuota(env.TABLE_NAME ?? '', other.projectId);
  const start = (name: string, { secretKey }: Bed): Promise<Contender> =>
    startContender(name, 'basalt-server.ts', { ...env, RATE_LIMIT: '0' }, { 'x-api-key': secretKey });
  const [quietOne, noisyOne] = [await start('quiet', one), await start('noisy', other)];
  try {
    const length = Math.max(leastSeconds, seconds);
    await timesOf(quietOne, requests, 1);
    const neighbours: Neighbour[] = [];
    for (const noise of noises) {
      const done: Round[] = [];
      for (let round = 0; round < rounds; round++) {
        progress(`beside a neighbour's ${noise}: round ${round + 1} of ${rounds}`);
        const noisy = { contender: noisyOne, bed: other, collection, more: 'more' };
        done.push(await besideNoise(noisy, noise, () => timesOf(quietOne, requests, length)));
      }
      neighbours.push(...summed(noise, done));
    }
    return neighbours;
  } finally {
    for (const contender of [quietOne, noisyOne]) contender.stop();
  }
};
