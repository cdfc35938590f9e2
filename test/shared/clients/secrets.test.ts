import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { secret } from '../../../shared/clients/secrets.ts';

let server: Server;
let requests = 0;
let handle: RequestListener;

const answer: RequestListener = (_request, response) => response.end(JSON.stringify({ SecretString: 'the value' }));
const silence: RequestListener = () => undefined;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1;
    handle(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', `http://127.0.0.1:${port}`);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
});

afterAll(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('a secret is fetched once', async () => {
  handle = answer;
  expect(await Promise.all([secret('arn:once'), secret('arn:once')])).toEqual(['the value', 'the value']);
  expect(await secret('arn:once')).toBe('the value');
  expect(requests).toBe(1);
});

test('503 where nothing answers, whoever waits, and the next caller asks anew', async () => {
  handle = silence;
  const waiting = await Promise.allSettled([secret('arn:silent'), secret('arn:silent')]);
  for (const outcome of waiting) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE', retryAfter: 5 } });
  }
  handle = answer;
  expect(await secret('arn:silent')).toBe('the value');
}, 30_000);

test('503 for an empty secret, and again until it is filled', async () => {
  handle = (_request, response) => response.end('{}');
  await expect(secret('arn:empty')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  handle = answer;
  expect(await secret('arn:empty')).toBe('the value');
});
