import type { ForkOptions } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Contender, type NoisyContender, startContender } from './contender.ts';
import { type LoadRequest, measure } from './load.ts';
import type { Noise, NoiseCounts } from './noise.ts';
import { counter, inTurn } from './operation.ts';
import { progress } from './progress.ts';
import { makeQueues } from './queues.ts';
import { sampleDocument } from './samples.ts';
import { type Bed, connect, fill, idsOf, makeBed } from './seed.ts';
import { median } from './statistics.ts';

const documents = 10_000;
const collections = { collection: 'posts', more: 'more', fed: 'fed' } as const;

/** The requests of a quiet project: few at a time, far below the machine's capacity. */
const few = { connections: 2, perSecond: 20 } as const;

/** Seconds per load; enough responses for a p95. */
const leastSeconds = 5;

/** The maximum factor by which a quiet project's p95 may grow. */
export const neighbourAim = 2;

type Row = 'get' | 'list' | 'create';

const rowsOf = (ids: readonly string[]): Readonly<Record<Row, LoadRequest>> => {
  const id = inTurn(ids);
  const index = counter();
  const base = `/api/data/${collections.collection}`;
  return {
    get: { ...few, method: 'GET', path: () => `${base}/${id()}` },
    list: { ...few, method: 'GET', path: () => `${base}?limit=20` },
    create: { ...few, method: 'POST', path: () => base, body: () => JSON.stringify(sampleDocument(index())) },
  };
};

type Times = Readonly<Record<Row, number>>;

/** p95 per kind of request in ms, all kinds at the same time. */
const timesOf = async (target: Contender, requests: Readonly<Record<Row, LoadRequest>>, seconds: number) => {
  const measured = Object.entries(requests).map(async ([row, request]) => {
    const { p95 } = await measure(target, request, seconds);
    return [row, p95] as const;
  });
  return Object.fromEntries(await Promise.all(measured)) as Times;
};

/** The effect of one project's work on another's requests. */
export interface Neighbour {
  readonly noise: Noise;
  readonly row: Row;
  /** p95 in ms, alone. */
  readonly quiet: number;
  /**
   * p95 with the load, and with a load whose own processes have the lowest priority, so that only the database is
   * shared.
   */
  readonly beside: Beside;
  readonly besideEngine: Beside;
}

/** p95 in ms and the median ratio per round; the noisy project's work per second, and its rejected requests. */
interface Beside {
  readonly p95: number;
  readonly ratio: number;
  readonly noisePerSecond: NoiseCounts;
}

export interface Street {
  readonly env: Readonly<Record<string, string>>;
  readonly dashboardUrl: string;
  readonly mongoUri: string;
}

interface Heard {
  readonly times: Times;
  readonly noisePerSecond: NoiseCounts;
}

interface Round {
  readonly quiet: Times;
  readonly beside: Heard;
  readonly besideEngine: Heard;
}

/** A noisy project: its server and its sender. */
interface Noisy {
  readonly server: Contender;
  readonly sender: NoisyContender;
}

/** The times with a load. */
const besideNoise = async ({ server, sender }: Noisy, bed: Bed, begin: Noise, measureTimes: () => Promise<Times>) => {
  const { projectId, secretKey } = bed;
  const project = { url: server.url, projectId, secretKey, token: await bed.newDashboardToken(), collections };
  await sender.noise({ begin, project });
  try {
    // Measures only after the load has reached its steady state.
    await sleep(1000);
    const [at, before] = [performance.now(), await sender.noise({ tell: 'counts' })];
    const times = await measureTimes();
    const seconds = (performance.now() - at) / 1000;
    const { done, refused } = await sender.noise({ tell: 'counts' });
    const noisePerSecond = { done: (done - before.done) / seconds, refused: (refused - before.refused) / seconds };
    return { times, noisePerSecond };
  } finally {
    await sender.noise({ tell: 'end' });
  }
};

const summed = (noise: Noise, rounds: readonly Round[]): Neighbour[] =>
  (['get', 'list', 'create'] as const).map((row) => {
    const beside = (of: (round: Round) => Heard): Beside => ({
      p95: median(rounds.map((round) => of(round).times[row])),
      ratio: median(rounds.map((round) => of(round).times[row] / round.quiet[row])),
      noisePerSecond: {
        done: median(rounds.map((round) => of(round).noisePerSecond.done)),
        refused: median(rounds.map((round) => of(round).noisePerSecond.refused)),
      },
    });
    return {
      noise,
      row,
      quiet: median(rounds.map(({ quiet: alone }) => alone[row])),
      beside: beside((round) => round.beside),
      besideEngine: beside((round) => round.besideEngine),
    };
  });

/**
 * Its processes have the lowest priority, in a session of their own, so that the system schedules them as a separate
 * group.
 */
const yielding = { execPath: 'nice', execArgv: ['-n', '10', process.execPath, ...process.execArgv], detached: true };

/** Starts the processes of a noisy project, with queues of its own. */
const startNoisy = async (name: string, env: Street['env'], options?: ForkOptions): Promise<Noisy> => {
  const [work = '', webhooks = ''] = await makeQueues(env.AWS_ENDPOINT_URL ?? '', [`${name}-work`, `${name}-webhooks`]);
  const sender = await startContender(`${name} sender`, 'noise-sender.ts', env, {}, undefined, options);
  const PERMITTED_ADDRESSES = new URL(sender.url).host;
  const settings = { ...env, WORK_QUEUE_URL: work, WEBHOOK_QUEUE_URL: webhooks, PERMITTED_ADDRESSES };
  return { sender, server: await startContender(name, 'noisy-server.ts', settings, {}, undefined, options) };
};

/**
 * Measures one project's requests alone, and while another project loads the database without a rate limit. Each
 * project has its own server process, as functions have their own instances. They share the database and, here, the
 * machine; therefore the load is repeated with processes of the lowest priority.
 */
export const measureNeighbours = async (
  { env, dashboardUrl, mongoUri }: Street,
  { rounds, seconds, noises }: { readonly rounds: number; readonly seconds: number; readonly noises: readonly Noise[] },
): Promise<Neighbour[]> => {
  const { collection, more, fed } = collections;
  const [one, other]: [Bed, Bed] = [
    await makeBed(dashboardUrl, [collection]),
    await makeBed(dashboardUrl, [collection, more, fed]),
  ];
  await other.dashboard('PUT', `/api/projects/${other.projectId}/collections/${fed}`, { changes: true });
  const client = await connect(mongoUri);
  const filled = [
    [one, collection],
    [other, collection],
    [other, more],
  ] as const;
  for (const [{ database }, name] of filled)
    await fill(client.db(database).collection(name), documents, () => undefined);
  const requests = rowsOf(await idsOf(client.db(one.database).collection(collection), documents));
  await client.close();
  const unlimited = { ...env, RATE_LIMIT: '0' };
  const quietOne = await startContender('quiet', 'basalt-server.ts', unlimited, { 'x-api-key': one.secretKey });
  const equal = await startNoisy('noisy', unlimited);
  const last = await startNoisy('yielding', { ...unlimited, BENCH_YIELDS: '1' }, yielding);
  try {
    const length = Math.max(leastSeconds, seconds);
    const measureTimes = (): Promise<Times> => timesOf(quietOne, requests, length);
    await timesOf(quietOne, requests, 1);
    const neighbours: Neighbour[] = [];
    for (const noise of noises) {
      const done: Round[] = [];
      for (let round = 0; round < rounds; round++) {
        progress(`beside a neighbour's ${noise}: round ${round + 1} of ${rounds}`);
        const quiet = await measureTimes();
        const beside = await besideNoise(equal, other, noise, measureTimes);
        const besideEngine = await besideNoise(last, other, noise, measureTimes);
        done.push({ quiet, beside, besideEngine });
      }
      neighbours.push(...summed(noise, done));
    }
    return neighbours;
  } finally {
    for (const contender of [quietOne, equal.server, equal.sender, last.server, last.sender]) contender.stop();
  }
};
