import { DeleteItemCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { clock } from '../../../shared/core/clock.ts';
import { log } from '../../../shared/core/log.ts';
import { sweepUploads } from '../../../shared/files/cleanup.ts';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { requestUpload } from '../../../shared/files/request-upload.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel } from '../../support/clients/client.ts';
import { placeFor } from '../../support/clients/other-storage.ts';
import { HttpProxy } from '../../support/faults/http-proxy.ts';
import { useOwnTable } from '../../support/fixtures/own-table.ts';
import { newProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

const hour = 60 * 60 * 1000;

beforeAll(useOwnTable);

let now = clock.now();

afterEach(async () => {
  vi.restoreAllMocks();
  at(10 * 24);
  await sweepUploads();
});

/** Sets the clock to `hours` later. */
const at = (hours: number): void => {
  now += hours * hour;
  clock.now = () => now;
};

const request = (project: Project) => requestUpload(project, { filename: 'a.txt', contentType: 'a/b', size: 5 });
const held = async (project: Project): Promise<number> => (await storageUsage(project)).held;

describe('a run of the cleanup', () => {
  test('continues until nothing is due, and reports no backlog', async () => {
    at(0);
    const project = storageProject();
    await inParallel(60, () => request(project));
    at(25);
    const told = vi.spyOn(log, 'info');
    expect(await sweepUploads()).toBe(60);
    expect(told).toHaveBeenCalledWith({ job: 'sweep-uploads', settled: 60, postponed: 0, behindMinutes: 0 });
    expect(await held(project)).toBe(0);
  });

  test('ends after its time and reports the age of the backlog; the next one continues', async () => {
    at(0);
    const project = storageProject();
    await request(project);
    at(2);
    await request(project);
    at(25);
    const told = vi.spyOn(log, 'info');
    expect(await sweepUploads(0)).toBe(0);
    expect(told).toHaveBeenCalledWith({ job: 'sweep-uploads', settled: 0, postponed: 0, behindMinutes: 1605 });
    expect(await sweepUploads()).toBe(2);
    expect(await held(project)).toBe(0);
  });
});

describe('what has been due for weeks is found', () => {
  const key = { pk: { S: 'due#uploads#done' }, sk: { S: 'until' } };
  const TableName = () => process.env.TABLE_NAME;
  const table = new DynamoDBClient({});

  afterAll(() => table.destroy());

  test.each([
    [
      'nothing tells up to when all is done',
      () => table.send(new DeleteItemCommand({ TableName: TableName(), Key: key })),
    ],
    [
      'a clock that went wrong has told of a time to come',
      () => {
        const Item = { ...key, until: { N: String(now + 9999 * hour) } };
        return table.send(new PutItemCommand({ TableName: TableName(), Item }));
      },
    ],
  ])('when %s, now and later', async (_what, forget) => {
    for (let turn = 0; turn < 2; turn++) {
      at(0);
      const project = storageProject();
      await request(project);
      at(40 * 24);
      if (turn === 0) await forget();
      // On the second run, a run without time must not have moved the mark past its leftovers.
      else expect(await sweepUploads(0)).toBe(0);
      expect(await sweepUploads()).toBe(1);
      expect(await held(project)).toBe(0);
    }
  });
});

describe('a customer’s storage that does not respond', () => {
  let server: HttpProxy;
  let evil: Project;

  beforeAll(async () => {
    server = await HttpProxy.start();
    permitAddresses(new URL(server.url).host);
    const { id } = await newProject();
    const keys = { accessKeyId: 'key', secretAccessKey: 'secret' };
    const place = { endpoint: server.url, region: 'us-east-1', bucket: 'files', keys };
    const storage = await placeFor(id, place, server.url);
    await onControl((db) => db.collection('projects').updateOne({ _id: new ObjectId(id) }, { $set: { storage } }));
    evil = { ...storageProject(), id, storage };
  });

  afterEach(() => server.heal());
  afterAll(() => server.close());

  const asking = async (run: () => Promise<unknown>): Promise<boolean> => {
    const before = server.asked.length;
    await run();
    return server.asked.length > before;
  };

  test('is tried once per run and delays no other files', async () => {
    server.meet('hang');
    at(0);
    await inParallel(30, () => request(evil));
    const project = storageProject();
    await request(project);
    at(25);
    const before = server.asked.length;
    expect(await sweepUploads()).toBe(1);
    // One page of ten shards may be in progress; each asks for two objects per path.
    expect(server.asked.length - before).toBeLessThanOrEqual(120);
    expect([await held(project), await held(evil)]).toEqual([0, 0]);
    expect(await asking(sweepUploads)).toBe(false);
  });

  test('is retried after 1 h, 2 h, 4 h and so on, for a week', async () => {
    server.meet('cut');
    at(0);
    await request(evil);
    at(25);
    expect(await asking(sweepUploads)).toBe(true);
    for (const hours of [1, 2, 4, 8, 16, 24, 24, 24, 24, 24, 24]) {
      at(hours - 0.1);
      expect(await asking(sweepUploads)).toBe(false);
      at(0.2);
      expect(await asking(sweepUploads)).toBe(true);
    }
    at(48);
    expect(await asking(sweepUploads)).toBe(false);
  });
});
