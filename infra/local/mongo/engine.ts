import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { startUntilUp } from '../helper-process.ts';
import type { LocalService, LocalServiceOptions } from '../local-service.ts';
import { StartProblem } from '../problem.ts';
import { prepareDirectory } from '../state-directory.ts';
import { requireDiskSpace } from './disk-space.ts';
import { howToRun } from './how-to-run.ts';
import { repairCounts } from './repair.ts';

const host = path.join(import.meta.dirname, 'host.mjs');

/** The engine empties this file when it ends in order. */
const stoppedUncleanly = async (directory: string): Promise<boolean> =>
  (await readFile(path.join(directory, 'mongod.lock'), 'utf8').catch(() => '')).trim() !== '';

/** Connects to the MongoDB the user named; silent → `StartProblem`. */
const useExisting = async (uri: string): Promise<LocalService> => {
  try {
    const client = new MongoClient(uri, { serverSelectionTimeoutMS: 3000 });
    await client.db('admin').command({ ping: 1 });
    await client.close();
  } catch (cause) {
    throw new StartProblem(
      'The MongoDB that MONGODB_URI names does not answer. Is it running, and the address right?',
      {
        cause,
      },
    );
  }
  return { address: uri, stop: async () => undefined };
};

const launch = async (directory: string, { report, onExit }: LocalServiceOptions): Promise<LocalService> => {
  const [command, ...args] = await howToRun(report);
  const { up: address, stop } = await startUntilUp(
    { name: 'MongoDB', command, args: [...args, host, directory], onExit },
    (line) => (line.startsWith('{"uri":') ? (JSON.parse(line) as { readonly uri: string }).uri : undefined),
  );
  return { address, stop };
};

/** The engine says of damaged data no more than that it ended. */
const suspectData = (error: unknown, directory: string): unknown =>
  error instanceof StartProblem
    ? new StartProblem(
        `${error.message}\nIts data, ${directory}, may be damaged: put them back from a copy.\n` +
          `To begin anew, without the data, delete ${path.dirname(directory)}`,
        { cause: error },
      )
    : error;

/**
 * Has the engine choose between plans by trying them. Its default estimates costs where no plan finds anything at
 * first, which this build cannot: such a query would fail with code 224.
 */
const choosePlansByTrial = (client: MongoClient): Promise<unknown> =>
  client.db('admin').command({ setParameter: 1, internalQueryPlanRanker: 'multiPlanning' });

/**
 * A single server numbers the writes of a second from 1 on, again where it was killed in it and starts anew: places of
 * the changes feed would be given twice.
 */
const secondAfter = (ms: number): Promise<unknown> =>
  pause(Math.max(0, (Math.floor(ms / 1000) + 1) * 1000 - Date.now()));

/**
 * Starts MongoDB on a directory, or takes the one at `uri`. `address` is its URI. After an unclean stop the counts of
 * all collections are set right first.
 */
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
  const part = await launch(directory, options).catch((error: unknown) => {
    throw hadData ? suspectData(error, directory) : error;
  });
  if (unclean) await secondAfter(foundAt);
  const client = new MongoClient(part.address);
  try {
    await choosePlansByTrial(client);
    if (unclean) await repairCounts(client, options.report);
  } finally {
    await client.close();
  }
  return part;
};
