import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient, MongoServerError } from 'mongodb';
import { prepareImage, startContainer } from '../docker.ts';
import type { LocalService, LocalServiceOptions } from '../helper-process.ts';

const image = 'mongo:8';
const set = 'basalt';

const noteIn = (directory: string): string => path.join(directory, 'in-docker');

/** True if Docker has the data of earlier starts. */
export const isInDocker = (directory: string): boolean => existsSync(noteIn(directory));

export const prepareMongoImage = (options: LocalServiceOptions): Promise<void> => prepareImage(image, options);

const alreadyInitialized = 23;

/** Makes the server a replica set of one member, which has transactions. */
const becomePrimary = async (uri: string): Promise<void> => {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 2000 });
  try {
    const admin = client.db('admin');
    const members = [{ _id: 0, host: '127.0.0.1:27017' }];
    await admin.command({ replSetInitiate: { _id: set, members } }).catch((error: unknown) => {
      if (!(error instanceof MongoServerError) || error.code !== alreadyInitialized) throw error;
    });
    while (!(await admin.command({ hello: 1 })).isWritablePrimary) await pause(100);
  } finally {
    await client.close();
  }
};

/** Starts MongoDB in Docker. The lock file in `directory` is like that of the engine: empty after a clean stop. */
export const startMongoInDocker = async (directory: string, options: LocalServiceOptions): Promise<LocalService> => {
  options.report(`MongoDB is ${image}, in Docker`);
  const { ready: address, stop } = await startContainer(
    {
      name: 'MongoDB',
      image,
      port: 27017,
      data: '/data/db',
      // Without this setting, a replica set waits for 15 s before it ends.
      args: ['--replSet', set, '--bind_ip_all', '--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=100'],
      note: noteIn(directory),
      poll: async (port) => {
        const uri = `mongodb://127.0.0.1:${port}/?directConnection=true`;
        await becomePrimary(uri);
        return uri;
      },
    },
    options,
  );
  const lock = path.join(directory, 'mongod.lock');
  await writeFile(lock, 'in Docker\n');
  return {
    address,
    stop: async () => {
      await stop();
      await writeFile(lock, '');
    },
  };
};
