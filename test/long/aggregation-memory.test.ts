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
 * Measures the memory that multiplying pipelines use, on a separate MongoDB. Each pipeline is rejected before it runs,
 * stopped while it runs, or stays below the bound.
 */

const boundMiB = 256;

let directory: string;
let engine: LocalService;
let client: MongoClient;
let documents: Collection<MongoDocument>;
let pid: number;
/** Resident memory in MiB just after the start. */
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

/**
 * Returns the resident memory before an attack. Restarts a database that still holds much memory of the previous
 * attack.
 */
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
        // MongoDB returns an error code when it stops a pipeline, but not when it has crashed.
        if (!(error instanceof AppError) && !('codeName' in (error as object))) throw error;
      }
    };
    const before = await residentBefore();
    const peak = await peakMemory(pid, run);
    expect(peak - before).toBeLessThan(boundMiB);
    expect(await client.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
  });

  test('at least a hundred pipelines are tested', () => expect(attacks.length).toBeGreaterThanOrEqual(100));
});
