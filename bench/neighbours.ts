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

/** What a quiet project asks for: few requests at once, far below what the machine can do. */
const few = { connections: 2, perSecond: 20 } as const;

/** So many seconds hold one noise, and enough answers for a p95. */
const leastSeconds = 5;

/** How many times as long a quiet project's p95 may become. */
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
  /** p95 in ms, alone. */
  readonly quiet: number;
  /** Beside the noise, and beside one whose own processes are given what nobody else wants: the engine is shared. */
  readonly beside: Beside;
  readonly besideEngine: Beside;
}

/** p95 in ms, and the median of the ratios of each round; what the noisy project got done a second, and was refused. */
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

/** A noisy project: who serves it, and who asks. */
interface Noisy {
  readonly server: Contender;
  readonly sender: NoisyContender;
}

/** Times beside a noise. */
const besideNoise = async ({ server, sender }: Noisy, bed: Bed, begin: Noise, measureTimes: () => Promise<Times>) => {
  const { projectId, secretKey } = bed;
  const project = { url: server.url, projectId, secretKey, token: await bed.newDashboardToken(), collections };
  await sender.noise({ begin, project });
  try {
    // What is under way at any time is there before anything is measured.
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

/** Its processes get what nobody else wants; as a session of its own, so that it is a group of the system's too. */
const yielding = { execPath: 'nice', execArgv: ['-n', '10', process.execPath, ...process.execArgv], detached: true };

/** Starts the processes of a noisy project, with queues of its own, from which no others take anything. */
const startNoisy = async (name: string, env: Street['env'], options?: ForkOptions): Promise<Noisy> => {
  const [work = '', webhooks = ''] = await makeQueues(env.AWS_ENDPOINT_URL ?? '', [`${name}-work`, `${name}-webhooks`]);
  const sender = await startContender(`${name} sender`, 'noise-sender.ts', env, {}, undefined, options);
  const PERMITTED_ADDRESSES = new URL(sender.url).host;
  const settings = { ...env, WORK_QUEUE_URL: work, WEBHOOK_QUEUE_URL: webhooks, PERMITTED_ADDRESSES };
  return { sender, server: await startContender(name, 'noisy-server.ts', settings, {}, undefined, options) };
};

/**
 * One project's requests, alone and while another project has the database work as hard as it may; no limit of requests
 * holds it back. Each project is served by a process of its own, as by function instances of its own: what they share
 * is the database, and here the machine, which is why the noise is made once more by processes that yield.
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
