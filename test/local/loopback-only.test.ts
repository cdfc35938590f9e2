import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { refuseOutsideHosts } from '../../infra/local/loopback-only.ts';
import { listen } from '../../infra/local/ports.ts';

const server = createServer((_request, response) => {
  response.end('reached');
});
let port: number;

beforeAll(async () => {
  port = await listen(server, 0);
  refuseOutsideHosts();
});
afterAll(() => {
  server.close();
});

test.each(['127.0.0.1', 'localhost'])('%s is reached, by text, URL and request', async (host) => {
  const address = `http://${host}:${port}/`;
  for (const input of [address, new URL(address), new Request(address, { method: 'POST', body: 'x' })]) {
    expect(await (await fetch(input)).text()).toBe('reached');
  }
});

test.each([
  'https://api.resend.com/emails',
  'https://github.com',
  'http://192.0.2.1',
  'http://[2001:db8::1]/',
  'http://127.0.0.1.example.com',
  'http://localhost.example.com',
  'http://examplelocalhost',
])('%s is not', async (address) => {
  for (const input of [address, new URL(address), new Request(address)]) {
    await expect(fetch(input)).rejects.toThrow('was not called');
  }
});

test('the one place that the user has named is reached besides, by its exact origin', async () => {
  vi.stubGlobal('fetch', async () => new Response('reached'));
  try {
    refuseOutsideHosts('https://api.example.com/v1');
    expect(await (await fetch('https://api.example.com/v1/chat/completions')).text()).toBe('reached');
    for (const address of ['http://api.example.com/v1', 'https://api.example.com:8443/', 'https://example.com/']) {
      await expect(fetch(address)).rejects.toThrow('was not called');
    }
  } finally {
    vi.unstubAllGlobals();
  }
});

test.each([undefined, '', 'not an address'])('%o names no place', async (chosen) => {
  vi.stubGlobal('fetch', async () => new Response('reached'));
  try {
    refuseOutsideHosts(chosen);
    await expect(fetch('https://api.example.com/')).rejects.toThrow('was not called');
  } finally {
    vi.unstubAllGlobals();
  }
});
