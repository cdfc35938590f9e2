import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Listens on a free port of a loopback address and returns the port. */
export const listenOn = async (server: Server, host: string): Promise<number> => {
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
