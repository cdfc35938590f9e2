import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { blockExternalFetch } from '../../infra/local/permit-addresses.ts';
import { listen } from '../../infra/local/ports.ts';

const server = createServer((_request, response) => {
  response.end('reached');
});
let port: number;

beforeAll(async () => {
  port = await listen(server, 0);
  blockExternalFetch();
});
afterAll(() => {
  server.close();
});

test.each(['127.0.0.1', 'localhost'])('%s is called when given as text, URL or request', async (host) => {
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
])('%s is not called', async (address) => {
  for (const input of [address, new URL(address), new Request(address)]) {
    await expect(fetch(input)).rejects.toThrow('was not called');
  }
});

test('configured address is called when its origin is exactly the same', async () => {
  vi.stubGlobal('fetch', async () => new Response('reached'));
  try {
    blockExternalFetch('https://api.example.com/v1');
    expect(await (await fetch('https://api.example.com/v1/chat/completions')).text()).toBe('reached');
    for (const address of ['http://api.example.com/v1', 'https://api.example.com:8443/', 'https://example.com/']) {
      await expect(fetch(address)).rejects.toThrow('was not called');
    }
  } finally {
    vi.unstubAllGlobals();
  }
});

test.each([undefined, '', 'not an address'])(
  'no external address is called when %o is configured',
  async (configured) => {
    vi.stubGlobal('fetch', async () => new Response('reached'));
    try {
      blockExternalFetch(configured);
      await expect(fetch('https://api.example.com/')).rejects.toThrow('was not called');
    } finally {
      vi.unstubAllGlobals();
    }
  },
);
