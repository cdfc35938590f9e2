import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { guardedRequest, isGuardedUrl } from '../../../shared/outbound/http.ts';

const permission = Symbol.for('basalt.permitted-addresses');
const scripted = Symbol.for('basalt.resolver');
const limits = { headers: {}, limitMs: 5000, maxBytes: 1000 };

let server: Server;
let address: string;
let asked = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    if (request.url === '/redirect') response.writeHead(302, { location: '/elsewhere' }).end();
    else if (request.url === '/large') response.end('x'.repeat(1001));
    else if (request.url === '/silent') return;
    else if (request.url === '/upgrade') response.writeHead(101, { connection: 'Upgrade', upgrade: 'other' }).end();
    else request.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
});
afterEach(() => {
  vi.restoreAllMocks();
  Reflect.deleteProperty(globalThis, scripted);
  Reflect.set(globalThis, permission, new Set());
});

const permit = (): void => {
  Reflect.set(globalThis, permission, new Set([address]));
};

describe('a guarded request', () => {
  test('returns the response when the address is permitted', async () => {
    permit();
    const answer = await guardedRequest(`http://${address}/`, { ...limits, method: 'POST', body: 'hello' });
    expect(answer).toEqual({ status: 200, text: 'hello' });
  });

  test('is not sent when a name leads to a restricted address', async () => {
    const before = asked;
    await expect(guardedRequest(`http://${address}/`, limits)).rejects.toThrow('restricted');
    await expect(guardedRequest(`https://${address}/`, limits)).rejects.toThrow('restricted');
    Reflect.set(globalThis, scripted, { addresses: async () => [{ address: '127.0.0.1', family: 4 }] });
    await expect(guardedRequest('https://names.example.com/', limits)).rejects.toThrow('restricted');
    expect(asked).toBe(before);
  });

  test('follows no redirect and reads no endless response', async () => {
    permit();
    expect(await guardedRequest(`http://${address}/redirect`, limits)).toEqual({ status: 302, text: '' });
    await expect(guardedRequest(`http://${address}/large`, limits)).rejects.toThrow('larger than 1000 bytes');
  });

  test('fails when the server switches the protocol', async () => {
    permit();
    await expect(guardedRequest(`http://${address}/upgrade`, limits)).rejects.toThrow('broke off');
  });

  test('fails after its time limit', async () => {
    permit();
    const time = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
    server.once('request', () => time.abort());
    await expect(guardedRequest(`http://${address}/silent`, limits)).rejects.toThrow(/abort/i);
    expect(timeout).toHaveBeenCalledExactlyOnceWith(limits.limitMs);
  });

  test.each([
    ['https://example.com/a', true],
    ['http://example.com', false],
    ['https://a:b@example.com', false],
    ['https://10.0.0.1', false],
    ['javascript:alert(1)', false],
    ['example.com', false],
  ])('is allowed to %s: %s', (url, may) => {
    expect(isGuardedUrl(url)).toBe(may);
  });
});
