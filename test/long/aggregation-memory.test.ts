import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Collection, MongoClient, type Document as MongoDocument } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LocalService } from '../../infra/local/helper-process.ts';
import { startMongo } from '../../infra/local/mongo/engine.ts';
import { AppError } from '../../shared/core/errors.ts';
import { checkPipeline } from '../../shared/documents/aggregate/check-pipeline.ts';
import { boundPipeline } from '../../shared/documents/aggregate/memory.ts';
import { peakMemory, residentMemory } from '../support/clients/peak-memory.ts';
import { attacks, targets } from './aggregation-attacks.ts';

/*
 * What pipelines that multiply take of the database's memory, measured on a MongoDB of its own: each is refused before
 * it runs, stopped while it does, or stays within the bound, whatever document it meets.
 */

const boundMiB = 256;

let directory: string;
let engine: LocalService;
let client: MongoClient;
let documents: Collection<MongoDocument>;
let pid: number;
/** MiB that are resident when it has just begun. */
let settled: number;

const start = async (): Promise<void> => {
  engine = await startMongo(directory, undefined, { report: () => undefined, onExit: () => undefined });
  client = new MongoClient(engine.address);
  documents = client.db('attacks').collection('notes');
  pid = Number((await client.db('admin').command({ serverStatus: 1 })).pid);
};

const stop = async (): Promise<void> => {
  await client?.close();
  await engine?.stop();
};

/** What is resident before an attack; a database that has kept much of the one before is started anew. */
const residentBefore = async (): Promise<number> => {
  await documents.aggregate([{ $match: {} }, { $count: 'n' }]).toArray();
  const resident = await residentMemory(pid);
  if (resident < settled + 32) return resident;
  await stop();
  await start();
  await documents.aggregate([{ $match: {} }, { $count: 'n' }]).toArray();
  return residentMemory(pid);
};

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-memory-'));
  await start();
  for (const document of targets) await documents.insertOne({ ...document });
  await stop();
  await start();
  settled = await residentMemory(pid);
});

afterAll(async () => {
  await stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

describe('no pipeline takes more than 256 MiB', () => {
  test.each(attacks)('%s', async (_what, pipeline) => {
    const run = async (): Promise<void> => {
      try {
        const stages = boundPipeline(checkPipeline(pipeline).pipeline);
        await documents.aggregate(stages, { allowDiskUse: false, maxTimeMS: 5000, raw: true }).toArray();
      } catch (error) {
        // Refused, or stopped by MongoDB, which says so; a database that is gone does not.
        if (!(error instanceof AppError) && !('codeName' in (error as object))) throw error;
      }
    };
    const before = await residentBefore();
    const peak = await peakMemory(pid, run);
    expect(peak - before).toBeLessThan(boundMiB);
    expect(await client.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
  });

  test('and there are at least a hundred', () => expect(attacks.length).toBeGreaterThanOrEqual(100));
});
