import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { FaultyService } from '../faults/faulty-service.ts';
import type { FaultProxy } from '../faults/proxy.ts';

/** A developer's MongoDB, in a process of its own and reached by TCP. */
export interface OwnDatabase {
  readonly port: number;
  /** `127.0.0.1:port`, as permissions name it. */
  readonly address: string;
  readonly uri: (database: string, options?: string) => string;
  /** A client that asks no permission, to look at what is there. */
  readonly client: MongoClient;
  /** The way to it, with the faults that it can have. */
  readonly proxy: FaultProxy;
  stop(): Promise<void>;
}

/** Starts a MongoDB for developers of this test to connect, and permits this process to do so. */
export const startOwnDatabase = async (): Promise<OwnDatabase> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-own-'));
  const part = await FaultyService.mongo(directory);
  const { port } = part.proxy;
  const address = `127.0.0.1:${port}`;
  permitAddresses(`${process.env.PERMITTED_ADDRESSES ?? ''},${address}`);
  const uri = (database: string, options = ''): string =>
    `mongodb://${address}/${database}${options === '' ? '' : `?${options}`}`;
  const client = new MongoClient(uri('', 'directConnection=true'));
  return {
    port,
    address,
    uri,
    client,
    proxy: part.proxy,
    stop: async () => {
      await client.close();
      await part.stop();
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};
