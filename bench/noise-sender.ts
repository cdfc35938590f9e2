/** Sends the requests of a noisy project and receives its webhooks, in a process of its own. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../infra/local/ports.ts';
import { answerMain } from './answer-main.ts';
import { type NoiseOrder, type Noisy, type NoisyProject, sendNoise } from './noise.ts';
import './yielding.ts';

let received = 0;
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    received += 1;
    response.writeHead(204).end();
  });
});
await listen(receiver, 0);
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

const send = async (method: string, url: string, headers: Record<string, string>, body: string | undefined) => {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });
  const { ok, status } = response;
  return { ok, status, text: await response.text() };
};

/** Retries while the process is too busy to respond. */
const sendUntilTaken: typeof send = async (...request) => {
  const answer = await send(...request);
  if (answer.status !== 503) return answer;
  await sleep(500);
  return sendUntilTaken(...request);
};

const noisyOf = ({ url, projectId, secretKey, token, collections }: NoisyProject): Noisy => ({
  ...collections,
  receiverUrl,
  received: () => received,
  post: async (path, body) => (await send('POST', `${url}${path}`, { 'x-api-key': secretKey }, body)).ok,
  dashboard: async (method, path, body) => {
    const whole = `${url}/api/projects/${projectId}${path}`;
    const { ok, status, text } = await sendUntilTaken(
      method,
      whole,
      { authorization: `Bearer ${token}` },
      JSON.stringify(body),
    );
    // A request with a 503 response may have succeeded.
    const isGone = method === 'DELETE' && status === 404;
    if (!ok && !isGone) throw new Error(`${method} ${whole} was answered ${text}`);
    return JSON.parse(text);
  },
});

let running: Awaited<ReturnType<typeof sendNoise>> | undefined;

process.on('message', async (order: NoiseOrder | string) => {
  if (typeof order === 'string') return;
  if ('begin' in order) running = await sendNoise(noisyOf(order.project), order.begin);
  else if (order.tell === 'end') await running?.stop();
  process.send?.({ counts: running?.counts() });
});
answerMain(receiver);
