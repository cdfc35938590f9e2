import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SignedClient } from '../../../shared/persistence/aws-client.ts';
import { timed } from '../../../shared/persistence/mongo-commands.ts';

const limitMs = 1000;

/** The other thread sets the first number to 1 when it has responded. The second never changes. */
const answered = new Int32Array(new SharedArrayBuffer(8));

/**
 * Responds to HTTP requests and messages after a tenth of a second, on a thread that runs while this one is blocked.
 */
const answering = `
  const { parentPort, workerData } = require('node:worker_threads');
  const tell = () => {
    Atomics.store(workerData, 0, 1);
    Atomics.notify(workerData, 0);
  };
  const soon = (act) => setTimeout(act, 100);
  parentPort.on('message', () => soon(() => { parentPort.postMessage('answer'); tell(); }));
  const server = require('node:http').createServer((_request, response) => soon(() => response.end('answer', tell)));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

let other: Worker;
let client: SignedClient;

const request = () => client.request({ operation: 'GetItem', body: '{}', parse: String });

beforeAll(async () => {
  other = new Worker(answering, { eval: true, workerData: answered });
  const [port] = await once(other, 'message');
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const limits = { maxTries: 2, connectMs: limitMs, answerMs: limitMs };
  client = new SignedClient('dynamodb', limits, `http://127.0.0.1:${port}`);
  // The connection stays open, so that a request is sent immediately.
  await request();
  Atomics.wait(answered, 0, 0);
});

afterAll(async () => {
  client.destroy();
  vi.unstubAllEnvs();
  await other.terminate();
});

/** Sends pending requests, then blocks this thread until their responses have arrived and their time is over. */
const standStill = async (): Promise<void> => {
  Atomics.store(answered, 0, 0);
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  Atomics.wait(answered, 0, 0);
  Atomics.wait(answered, 1, 0, limitMs);
};

test('a call succeeds when its response arrived while the process stood still', async () => {
  const answer = timed(limitMs, () => {
    other.postMessage('ask');
    return once(other, 'message');
  });
  await standStill();
  expect(await answer).toEqual(['answer']);
});

test('a request succeeds when its response arrived while the process stood still', async () => {
  const answer = request();
  await standStill();
  expect(await answer).toBe('answer');
});
