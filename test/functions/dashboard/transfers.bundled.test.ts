import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { maintainTransfers, runTransfer } from '../../../shared/transfers/run-transfer.ts';
import { transferRecords } from '../../../shared/transfers/transfer.ts';
import { call } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { everyType, notes, people } from '../../support/fixtures/collections.ts';
import { newDeveloper, newProject } from '../../support/fixtures/project.ts';
import { openTransfers, type TransferRequests } from '../../support/fixtures/transfer-requests.ts';
import { heldExport, recordOf } from '../../support/fixtures/transfers.ts';

const missing = 'f'.repeat(24);
let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers([everyType, people, notes]);
});

describe('a lost export or import', () => {
  test('is queued again when it is due', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 3);
    const held = await heldExport(at.project.id, collection);
    await eventually(async () => {
      // The stack’s schedule finds it, or a concurrent test, whose queue has no reader.
      await transferRecords.updateOne({ _id: held._id, state: 'queued' }, { $set: { dueAt: new Date(0) } });
      expect(await recordOf(held)).toMatchObject({ state: 'done', count: 3 });
    });
  });

  test('is removed after two days, with its file', async () => {
    const done = await at.exported('notes', { format: 'json' });
    await transferRecords.updateOne({ _id: new ObjectId(done._id) }, { $set: { expiresAt: new Date(clock.now()) } });
    expect(await at.dashboard('GET', 'notes', `exports/${done._id}`)).toMatchObject({ status: 404 });
    await maintainTransfers();
    expect(await transferRecords.countDocuments({ _id: new ObjectId(done._id) })).toBe(0);
    expect((await fetch(done.url ?? '')).status).toBe(404);
  });

  test('fails permanently after ten unsuccessful runs', async () => {
    const held = await heldExport(at.project.id, await at.newCollection());
    await transferRecords.updateOne({ _id: held._id }, { $set: { tries: 10 } });
    await runTransfer(held._id.toHexString());
    expect(await recordOf(held)).toMatchObject({ state: 'failed' });
  });

  test('costs three indexed queries when there is none', async () => {
    const plans = await Promise.all(
      [
        { active: true, dueAt: { $lte: new Date(0) } },
        { expiresAt: { $lte: new Date(0) } },
        { fileEndsAt: { $lte: new Date(0) } },
      ].map((filter) => onControl((db) => db.collection('transfers').find(filter).explain('queryPlanner'))),
    );
    expect(plans.map((plan) => /"indexName":"(\w+)"/.exec(JSON.stringify(plan))?.[1])).toEqual([
      'due',
      'expired',
      'file',
    ]);
  });
});

const routes = [
  ['POST', 'exports', { format: 'json' }],
  ['GET', `exports/${missing}`, undefined],
  ['POST', 'imports', { format: 'csv', content: 'a\n1' }],
  ['POST', `imports/${missing}/start`, undefined],
  ['GET', `imports/${missing}`, undefined],
] as const;

describe.each(routes)('%s …/%s', (method, rest, body) => {
  test('403 USERS_RESERVED for users', async () => {
    for (const collection of ['users', 'USERS']) {
      expect(await at.dashboard(method, collection, rest, body)).toMatchObject({
        status: 403,
        body: { code: 'USERS_RESERVED' },
      });
    }
  });

  test('404 for an unknown collection, and for the project of another developer', async () => {
    expect(await at.dashboard(method, 'nothing', rest, body)).toMatchObject({
      status: 404,
      body: { code: 'COLLECTION_NOT_FOUND' },
    });
    const stranger = await newDeveloper();
    expect(await stranger.dashboard(method, at.path('notes', rest), body)).toMatchObject({
      status: 404,
      body: { code: 'PROJECT_NOT_FOUND' },
    });
  });

  test('401 without a token', async () => {
    const answer = await call(
      inject('stack').dashboardUrl,
      method,
      at.path('notes', rest),
      body === undefined ? {} : { body },
    );
    expect(answer).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });
});

test('404 TRANSFER_NOT_FOUND for an unknown or malformed id, or one of another collection, kind or project', async () => {
  const { _id: exportId } = await at.exported('notes', { format: 'json' });
  const { _id: importId } = await at.imported('notes', { format: 'csv', content: 'a\n1' });
  const other = await newProject([notes], at.project.developer);
  const elsewhere = `/api/projects/${other.id}/collections/notes`;
  for (const answer of [
    await at.dashboard('GET', 'notes', `exports/${missing}`),
    await at.dashboard('GET', 'notes', 'exports/x'),
    await at.dashboard('GET', 'posts', `exports/${exportId}`),
    await at.dashboard('GET', 'notes', `imports/${exportId}`),
    await at.dashboard('GET', 'notes', `exports/${importId}`),
    await at.dashboard('POST', 'notes', `imports/${exportId}/start`),
    await at.project.developer.dashboard('GET', `${elsewhere}/exports/${exportId}`),
    await at.project.developer.dashboard('GET', `${elsewhere}/imports/${importId}`),
    await at.project.developer.dashboard('POST', `${elsewhere}/imports/${importId}/start`),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { code: 'TRANSFER_NOT_FOUND' } });
  }
});
