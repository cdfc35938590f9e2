import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { closeMongo } from '../../../shared/persistence/mongo.ts';
import { kindsFor, type WarmProject } from './warm-requests.ts';

// Handles 100 000 requests of a `WarmProject` (first argument, JSON) like warm functions. Prints the heap before and
// after as one JSON line.
const warmUp = 30_000;
const requests = 100_000;
const atOnce = 8;
const [, , project = '{}'] = process.argv;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const heapMiB = (): number => {
  for (let time = 0; time < 3; time++) collectGarbage();
  return process.memoryUsage().heapUsed / 1024 ** 2;
};

const kinds = await kindsFor(JSON.parse(project) as WarmProject);

/** Retries if a part did not respond in time, for example on a paused machine. */
const answerOne = async (n: number, again = true): Promise<void> => {
  const [answer, expected] = kinds(n);
  const { status, body } = await answer;
  if (status === 503 && again) return answerOne(n, false);
  if (status !== expected) throw new Error(`Request ${n} was answered ${status}: ${JSON.stringify(body)}`);
};

const answerMany = async (count: number, from: number): Promise<void> => {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < from + count) await answerOne(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
};

await answerMany(warmUp, 0);
const beforeMiB = heapMiB();
const startedAt = performance.now();
await answerMany(requests, warmUp);
const seconds = (performance.now() - startedAt) / 1000;
const afterMiB = heapMiB();
await closeMongo();
process.stdout.write(
  `${JSON.stringify({ seconds, beforeMiB, afterMiB, peakMiB: process.memoryUsage().rss / 1024 ** 2 })}\n`,
);
process.exit(0);
