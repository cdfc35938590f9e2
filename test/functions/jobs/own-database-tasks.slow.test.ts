import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as runTask } from '../../../functions/jobs/run-task.ts';
import { noRowSecurity } from '../../../shared/collections/collection.ts';
import { clock } from '../../../shared/core/clock.ts';
import { log } from '../../../shared/core/log.ts';
import { emptyTrash } from '../../../shared/documents/store/empty-trash.ts';
import { purgeProject, runPurge } from '../../../shared/documents/store/purge.ts';
import { workTries } from '../../../shared/persistence/work-queue.ts';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';
import { transferKey } from '../../../shared/transfers/transfer.ts';
import { loadObject } from '../../support/clients/load-object.ts';
import { type OwnDatabase, startOwnDatabase } from '../../support/fixtures/own-database.ts';
import { connectOwn, serveVerifiers } from '../../support/fixtures/own-project.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { heldExport, heldImport, recordOf } from '../../support/fixtures/transfers.ts';
import { addTrashed, makePurgeDue, purgeDueAt, stored } from '../../support/fixtures/trash.ts';

let own: OwnDatabase;
let stopVerifiers: () => Promise<void>;
let project: TestProject;
let managed: TestProject;

beforeAll(async () => {
  own = await startOwnDatabase();
  stopVerifiers = await serveVerifiers();
  project = await newProject([{ name: 'notes' }, { name: 'mixed' }]);
  managed = await newProject([{ name: 'notes' }]);
  const answer = await connectOwn(project, own.uri('own'));
  if (answer.status !== 200) throw new Error(`connecting answered ${JSON.stringify(answer.body)}`);
});

afterAll(async () => {
  await stopVerifiers();
  await own.stop();
});

/** The message of a transfer, handed out so many times. */
const messageOf = ({ _id }: { readonly _id: ObjectId }, times: number): SQSEvent => {
  const body = JSON.stringify({ task: 'transfer', transferId: _id.toHexString() });
  const attributes = { ApproximateReceiveCount: String(times) };
  return { Records: [{ messageId: 'message', receiptHandle: 'none', body, attributes } as SQSRecord] };
};

const collection = (name: string) => own.client.db('own').collection(name);
const monthAgo = new Date(Date.now() - 31 * 86_400_000);

describe('in a customer’s database', () => {
  test('a purge removes documents with any id that were trashed 30 days ago, and nothing of other programs', async () => {
    await addTrashed(await domainProject(project), 'notes', 1500, 31);
    await collection('notes').insertMany([
      { _id: 'a name' as never, isDeleted: true, deletedAt: monthAgo },
      { _id: 'recent' as never, isDeleted: true, deletedAt: new Date() },
      { _id: 'text for a date' as never, isDeleted: true, deletedAt: 'long ago' },
      { _id: 7 as never, text: 'no system fields' },
    ]);
    await collection('theirs').insertOne({ isDeleted: true, deletedAt: monthAgo });
    await runPurge(project.id);
    const left = await collection('notes').find().sort({ _id: 1 }).toArray();
    expect(left.map(({ _id }) => _id as unknown)).toEqual([7, 'recent', 'text for a date']);
    expect(await collection('theirs').countDocuments()).toBe(1);
  });

  test('an export has documents with every kind of id, and an import stores documents there', async () => {
    const ids = [5, 'five', new ObjectId(), null, { a: 5 }];
    await collection('mixed').insertMany(
      ids.flatMap((_id, n) => [
        { _id: _id as never, n, text: 'x'.repeat(3_000_000) },
        { _id: `more ${n}` as never, n, text: 'y'.repeat(3_000_000) },
      ]),
    );
    const held = await heldExport(project.id, 'mixed');
    for (let runs = 0; (await recordOf(held)).state !== 'done'; runs++) {
      expect(runs).toBeLessThan(20);
      await runTransfer(held._id.toHexString());
    }
    const bytes = await loadObject(transferKey(held));
    const lines = new TextDecoder().decode(bytes).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { n: number }).n).sort()).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);

    const imported = await heldImport(project.id, 'notes', '{"n":"imported"}\n{"n":"imported"}');
    await runTransfer(imported._id.toHexString());
    expect(await recordOf(imported)).toMatchObject({ state: 'done', inserted: 2 });
    expect(await collection('notes').countDocuments({ n: 'imported' })).toBe(2);
  });

  test('emptying the trash of another database is postponed until the project uses that database again', async () => {
    const moved = await newProject([{ name: 'notes' }]);
    const before = await domainProject(moved);
    await addTrashed(before, 'notes', 1500, 1);
    expect(await connectOwn(moved, own.uri('moved'))).toMatchObject({ status: 200 });
    const now = await domainProject(moved);
    await addTrashed(now, 'notes', 3, 1);
    expect(await emptyTrash(before, { name: 'notes', rls: noRowSecurity })).toEqual({ removed: 1000, complete: false });
    expect(await purgeProject(now)).toEqual({ removed: 0, complete: true });
    expect(await stored(now, 'notes')).toBe(3);

    const { status } = await moved.developer.dashboard('DELETE', `/api/projects/${moved.id}/database`);
    expect(status).toBe(200);
    const realNow = clock.now;
    clock.now = () => realNow() + 5001;
    try {
      await purgeProject(before);
    } finally {
      clock.now = realNow;
    }
    expect([await stored(before, 'notes'), await stored(now, 'notes')]).toEqual([0, 3]);
  });

  test('an export causes no error and no dead letter when the database is down, and the schedule retries it', async () => {
    const held = await heldExport(project.id, 'mixed');
    const [errors, warnings] = [vi.spyOn(log, 'error'), vi.spyOn(log, 'warn')];
    await own.proxy.refuse();
    try {
      const tried = async (times: number) => (await runTask(messageOf(held, times))).batchItemFailures.length;
      expect(await tried(workTries - 1)).toBe(1);
      expect(await tried(workTries)).toBe(0);
    } finally {
      await own.proxy.heal();
    }
    expect(errors).not.toHaveBeenCalled();
    const failed = expect.objectContaining({ job: 'run-task', transferId: held._id.toHexString() });
    expect(warnings.mock.calls).toEqual([[failed], [failed]]);
    vi.restoreAllMocks();
    expect(await recordOf(held)).toMatchObject({ state: 'queued', active: true });
  });

  test.each([
    ['refuses connections', () => own.proxy.refuse()],
    ['is silent', () => Promise.resolve(own.proxy.hang())],
  ])('a database that %s does not delay the purge of other projects', async (what, fail) => {
    const theirs = await domainProject(managed);
    await addTrashed(theirs, 'notes', 10, 31);
    // Not yet: a run of the service would begin before the one here.
    await makePurgeDue(await domainProject(project), new Date(Date.now() + 3600_000));
    await fail();
    try {
      let ended = false;
      const failed = runPurge(project.id).finally(() => {
        ended = true;
      });
      expect(await purgeProject(theirs)).toEqual({ removed: 10, complete: true });
      if (what === 'is silent') expect(ended).toBe(false);
      await failed;
    } finally {
      await own.proxy.heal();
    }
    expect(await stored(theirs, 'notes')).toBe(0);
    const due = await purgeDueAt(await domainProject(project));
    expect(due.getTime() - Date.now()).toBeGreaterThan(20 * 3600_000);
  });
});
