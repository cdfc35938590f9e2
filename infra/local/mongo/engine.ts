import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient, MongoServerError } from 'mongodb';
import { prepareImage, startContainer } from '../docker.ts';
import { type LocalService, type LocalServiceOptions, startUntilReady } from '../helper-process.ts';
import { StartProblem } from '../problem.ts';
import { prepareDirectory, requireDiskSpace } from '../state-directory.ts';
import { type EngineCommand, nodeCommand } from './node-command.ts';

const image = 'mongo:8';
const set = 'basalt';

const noteIn = (directory: string): string => path.join(directory, 'in-docker');

/** True if Docker has the data of earlier starts. */
const isInDocker = (directory: string): boolean => existsSync(noteIn(directory));

const prepareMongoImage = (options: LocalServiceOptions): Promise<void> => prepareImage(image, options);

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
const startMongoInDocker = async (directory: string, options: LocalServiceOptions): Promise<LocalService> => {
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

const host = path.join(import.meta.dirname, 'host.mjs');

/** The engine empties this file at a clean stop. */
const stoppedUncleanly = async (directory: string): Promise<boolean> =>
  (await readFile(path.join(directory, 'mongod.lock'), 'utf8').catch(() => '')).trim() !== '';

/** Uses the MongoDB that the user named. Throws `StartProblem` if it does not respond. */
const useExisting = async (uri: string): Promise<LocalService> => {
  try {
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 3000 });
    await client.db('admin').command({ ping: 1 });
    await client.close();
  } catch (cause) {
    throw new StartProblem(
      'The MongoDB at MONGODB_URI does not respond. Check that it is running and that the address is correct.',
      {
        cause,
      },
    );
  }
  return { address: uri, stop: async () => undefined };
};

const launch = async (
  command: EngineCommand,
  directory: string,
  { onExit }: LocalServiceOptions,
): Promise<LocalService> => {
  const [program, ...args] = command;
  const { ready: address, stop } = await startUntilReady(
    { name: 'MongoDB', command: program, args: [...args, host, directory], onExit },
    { line: (line) => (line.startsWith('{"uri":') ? (JSON.parse(line) as { readonly uri: string }).uri : undefined) },
  );
  return { address, stop };
};

/** With damaged data, the engine only ends, without a message. */
const suspectData = (error: unknown, directory: string): unknown =>
  error instanceof StartProblem
    ? new StartProblem(
        `${error.message}\nIts data in ${directory} may be damaged. Restore them from a backup.\n` +
          `To start over without the data, delete ${path.dirname(directory)}`,
        { cause: error },
      )
    : error;

/**
 * Makes the engine choose query plans by trial. Its default also estimates costs, which this build does not support:
 * queries whose plans find nothing at first would fail with code 224.
 */
const choosePlansByTrial = (client: MongoClient): Promise<unknown> =>
  client.db('admin').command({ setParameter: 1, internalQueryPlanRanker: 'multiPlanning' });

/**
 * Waits for the next second. A single server numbers its writes per second, and starts again at 1 after a restart, so
 * the changes feed could get the same position twice.
 */
const secondAfter = (ms: number): Promise<unknown> =>
  pause(Math.max(0, (Math.floor(ms / 1000) + 1) * 1000 - Date.now()));

const maxRepairMs = 60_000;
const systemDatabases: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

const collectionsOf = async (client: MongoClient): Promise<readonly (readonly [database: string, name: string])[]> => {
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
  const found: [string, string][] = [];
  for (const { name } of databases.filter((database) => !systemDatabases.has(database.name))) {
    const collections = await client.db(name).listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
    found.push(...collections.map((collection): [string, string] => [name, collection.name]));
  }
  return found;
};

/**
 * Corrects MongoDB's stored document counts, which are wrong after it was killed (contract 2, "total"). Takes about 3 s
 * for a million documents, and stops with a message after a minute.
 */
const repairCounts = async (client: MongoClient, report: (step: string) => void): Promise<void> => {
  const all = await collectionsOf(client);
  const begin = performance.now();
  let reportedAt = begin;
  for (const [index, [database, name]] of all.entries()) {
    const now = performance.now();
    if (now - begin > maxRepairMs) {
      report(`${all.length - index} collections were not checked: totals of lists may be wrong until the next start`);
      return;
    }
    if (now - reportedAt > 1000) {
      report(`Checking collections after an unclean stop: ${index} of ${all.length}`);
      reportedAt = now;
    }
    await client.db(database).command({ validate: name });
  }
};

/** Downloads the image of Docker. Throws `StartProblem` with the advice if Docker cannot run it. */
const prepareDocker = (advice: string, options: LocalServiceOptions): Promise<void> =>
  prepareMongoImage(options).catch((cause: Error) => {
    throw new StartProblem(`${advice}\n(${cause.message})`, { cause });
  });

/** Returns the command that runs the engine of the packages; `undefined` to use Docker. Throws `StartProblem` if neither works. */
const findEngine = async (directory: string, options: LocalServiceOptions): Promise<EngineCommand | undefined> => {
  const toStartOver = `To start over without the data, delete ${path.dirname(directory)}`;
  if (isInDocker(directory)) {
    await prepareDocker(`The data of MongoDB are in Docker. Start Docker, then start again. ${toStartOver}`, options);
    return undefined;
  }
  try {
    return await nodeCommand(options.report);
  } catch (error) {
    if (!(error instanceof StartProblem)) throw error;
    await prepareDocker(error.message, options);
    return undefined;
  }
};

/** Starts MongoDB, or uses the one at `uri`. After an unclean stop, repairs the counts of all collections first. */
export const startMongo = async (
  directory: string,
  uri: string | undefined,
  options: LocalServiceOptions,
): Promise<LocalService> => {
  if (uri) return useExisting(uri);
  await prepareDirectory(directory);
  await requireDiskSpace(directory);
  const hadData = existsSync(path.join(directory, 'WiredTiger'));
  const unclean = await stoppedUncleanly(directory);
  const foundAt = Date.now();
  const command = await findEngine(directory, options);
  const starting = command ? launch(command, directory, options) : startMongoInDocker(directory, options);
  const part = await starting.catch((error: unknown) => {
    throw hadData ? suspectData(error, directory) : error;
  });
  if (unclean) await secondAfter(foundAt);
  const client = new MongoClient(part.address);
  try {
    if (command) await choosePlansByTrial(client);
    if (unclean) await repairCounts(client, options.report);
  } finally {
    await client.close();
  }
  return part;
};
