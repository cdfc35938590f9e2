import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { postEvent } from '../../../shared/webhooks/send.ts';

const permission = Symbol.for('basalt.permitted-addresses');
afterEach(() => Reflect.set(globalThis, permission, new Set()));

test('a delivery fails without delay when the receiver asks for another protocol', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(101, { connection: 'Upgrade', upgrade: 'other' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  Reflect.set(globalThis, permission, new Set([address]));
  try {
    const receipt = await postEvent(`http://${address}/`, {}, '{}');
    expect(receipt).toMatchObject({ status: null, error: 'The connection was lost.' });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
