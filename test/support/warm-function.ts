import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { handler as createDocument } from '../../functions/data/create-document.ts';
import { handler as getDocument } from '../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../functions/data/list-documents.ts';
import { handler as updateDocument } from '../../functions/data/update-document.ts';
import { closeMongo } from '../../shared/clients/mongo.ts';
import { invoke } from './invoke.ts';

// Answers 100 000 requests as warm functions do, with the secret key that is the first argument, and prints what its
// heap held before and after as one JSON line. Among the requests are what could be remembered for each caller: unknown
// keys and collections, many addresses, ever new bodies and queries.
const warmUp = 30_000;
const requests = 100_000;
const atOnce = 8;
const addresses = 2000;
const [, , key = ''] = process.argv;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const heapMiB = (): number => {
  for (let time = 0; time < 3; time++) collectGarbage();
  return process.memoryUsage().heapUsed / 1024 ** 2;
};

const notes = { collectionName: 'notes' };
const made = await invoke(createDocument, { key, params: notes, body: { title: 'first' } });
const params = { ...notes, id: String(made.body._id) };

const kinds: readonly ((n: number) => readonly [ReturnType<typeof invoke>, number])[] = [
  () => [invoke(getDocument, { key, params }), 200],
  (n) => [invoke(getDocument, { key, params, sourceIp: `198.18.${(n % addresses) >> 8}.${n & 255}` }), 200],
  (n) => [invoke(listDocuments, { key, params: notes, query: `limit=5&title=none-${n}` }), 200],
  (n) => [invoke(updateDocument, { key, params, body: { title: `title ${n}` } }), 200],
  (n) => [invoke(getDocument, { key, params: { collectionName: `unknown-${n}`, id: params.id } }), 404],
  (n) => [invoke(getDocument, { key: `sk_live_${String(n).padStart(32, '0')}`, params }), 401],
  (n) => [invoke(getDocument, { key, params: { ...notes, id: `no id ${n}` } }), 400],
  (n) => [invoke(listDocuments, { key, params: notes, query: `limit=5&sort=field${n}` }), 200],
];

const answerMany = async (count: number, from: number): Promise<void> => {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < from + count) {
      const n = next++;
      const [answer, expected] = kinds[n % kinds.length]?.(n) ?? [];
      const { status, body } = (await answer) ?? {};
      if (status !== expected) throw new Error(`A request was answered ${status}: ${JSON.stringify(body)}`);
    }
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
