/**
 * `node bench/many.ts [rounds]`: the time of one call that writes 1000 documents, and the p95 of another project's
 * requests while such calls run one after the other, as a ratio to the p95 without them. Each project has a server
 * process of its own; both share the database.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseSettings } from '../infra/local/settings.ts';
import { startStack } from '../infra/local/stack.ts';
import { startContender } from './contender.ts';
import { type LoadRequest, measure } from './load.ts';
import { inTurn } from './operation.ts';
import { endProgress, progress } from './progress.ts';
import { connect, fill, idsOf, makeBed, stampsOf } from './seed.ts';
import { median } from './statistics.ts';

const rounds = Number(process.argv[2] ?? 5);
const documents = 1000;
const aimMs = 2000;
const aimRatio = 2;
/** Enough responses for a p95. */
const seconds = 5;

const directory = await mkdtemp(path.join(tmpdir(), 'basalt-many-'));
const stack = await startStack({
  ...parseSettings({ RATE_LIMIT: '0', LOG: 'silent', BASALT_DIR: directory }),
  port: 0,
  report: progress,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
const client = await connect(stack.mongoUri);

try {
  const [quiet, noisy] = [await makeBed(stack.dashboardUrl, ['posts']), await makeBed(stack.dashboardUrl, ['posts'])];
  const posts = client.db(quiet.database).collection('posts');
  const others = client.db(noisy.database).collection('posts');
  await fill(
    posts,
    documents,
    () => undefined,
    () => stampsOf('basalt'),
  );
  const keyOf = ({ secretKey }: { readonly secretKey: string }) => ({ 'x-api-key': secretKey });
  const quietOne = await startContender('quiet', 'basalt-server.ts', stack.env, keyOf(quiet));
  const noisyOne = await startContender('noisy', 'basalt-server.ts', stack.env, keyOf(noisy));
  /** Carries out one call and returns its ms. */
  const writeMany = async (method: string, rest: string, body: object): Promise<number> => {
    const headers = { ...noisyOne.headers, 'content-type': 'application/json' };
    const begin = performance.now();
    const url = `${noisyOne.url}/api/data/posts${rest}`;
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const ms = performance.now() - begin;
    const { data } = (await response.json()) as { readonly data?: { readonly changed: number } };
    if (data?.changed !== documents) throw new Error(`${response.status}: ${data?.changed} documents changed`);
    return ms;
  };
  const where = { title: { $exists: true } };
  const calls: Readonly<Record<string, () => Promise<number>>> = {
    update: () => writeMany('PATCH', '', { where, changes: { $inc: { likes: 1 } } }),
    'move to the trash': () => writeMany('POST', '/delete', { where }),
    'permanent deletion': () => writeMany('POST', '/delete', { where, permanent: true }),
  };
  const refill = async (): Promise<void> => {
    await others.deleteMany({});
    await fill(
      others,
      documents,
      () => undefined,
      () => stampsOf('basalt'),
    );
  };
  const times: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries(calls)) {
      progress(`${name}: round ${round}`);
      await refill();
      const ms = await run();
      // The first round fills caches.
      if (round > 0) times[name] = [...(times[name] ?? []), ms];
    }
  }
  endProgress();
  for (const [name, all] of Object.entries(times)) {
    console.log(`${name} of ${documents} documents: ${median(all).toFixed(0)} ms (aim: ${aimMs})`);
  }
  const id = inTurn(await idsOf(posts, documents));
  const few = { connections: 2, perSecond: 20 };
  const requests: Readonly<Record<string, LoadRequest>> = {
    get: { ...few, method: 'GET', path: () => `/api/data/posts/${id()}` },
    update: {
      ...few,
      method: 'PATCH',
      path: () => `/api/data/posts/${id()}`,
      body: () => '{"likes":1}',
    },
  };
  const p95s = async (): Promise<number[]> =>
    Promise.all(Object.values(requests).map(async (request) => (await measure(quietOne, request, seconds)).p95));
  await p95s();
  const pairs: { readonly alone: readonly number[]; readonly beside: readonly number[] }[] = [];
  await refill();
  for (let round = 0; round < rounds; round++) {
    progress(`neighbour: round ${round}`);
    const alone = await p95s();
    let isOver = false;
    const noise = (async () => {
      while (!isOver) await calls.update?.();
    })();
    const beside = await p95s();
    isOver = true;
    await noise;
    pairs.push({ alone, beside });
  }
  endProgress();
  for (const [at, name] of Object.keys(requests).entries()) {
    const [alone, beside] = (['alone', 'beside'] as const).map((kind) =>
      median(pairs.map((pair) => pair[kind][at] ?? 0)),
    );
    const ratio = median(pairs.map((pair) => (pair.beside[at] ?? 0) / (pair.alone[at] ?? 1)));
    console.log(
      `p95 of a neighbour's ${name}: ${alone?.toFixed(1)} ms alone, ${beside?.toFixed(1)} ms beside, ${ratio.toFixed(2)} times (aim: ${aimRatio})`,
    );
  }
  quietOne.stop();
  noisyOne.stop();
} finally {
  await client.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
process.exit(0);
