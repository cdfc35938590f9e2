import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { Collection, ObjectId } from 'mongodb';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as purgeTrash } from '../../../functions/jobs/purge-trash.ts';
import { handler as runTask } from '../../../functions/jobs/run-task.ts';
import { noRowSecurity } from '../../../shared/collections/collection.ts';
import { trashEnd, trashedBy } from '../../../shared/collections/trash-conditions.ts';
import { clock } from '../../../shared/core/clock.ts';
import { emptyTrash, removeTrashed } from '../../../shared/documents/store/empty-trash.ts';
import { purgeProject, runPurge } from '../../../shared/documents/store/purge.ts';
import { onControl, onProject } from '../../../shared/persistence/mongo.ts';
import { databaseUsed } from '../../../shared/projects/database-quota.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { plansOf } from '../../support/clients/explain.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { answerForQueues } from '../../support/faults/aws-answers.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { addTrashed, makePurgeDue, purgeDueAt, stored } from '../../support/fixtures/trash.ts';

listenToCommands();
const hourMs = 3600_000;

let developer: Awaited<ReturnType<typeof newDeveloper>>;
let project: TestProject;
let domain: Project;

beforeAll(async () => {
  developer = await newDeveloper();
});

beforeEach(async () => {
  project = await newProject([{ name: 'notes' }, { name: 'other' }], developer);
  domain = await domainProject(project);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const hoursFromNow = (date: Date): number => (date.getTime() - Date.now()) / hourMs;

const taskEvent = (...projects: readonly Project[]): SQSEvent => ({
  Records: projects.map(({ id }) => ({
    messageId: id,
    receiptHandle: 'none',
    body: JSON.stringify({ task: 'purge-trash', projectId: id }),
    attributes: { ApproximateReceiveCount: '1' },
  })) as unknown as SQSRecord[],
});

describe('the daily purge', () => {
  test('a purge removes documents only when they were trashed 30 days ago', async () => {
    await addTrashed(domain, 'notes', 1200, 31);
    await addTrashed(domain, 'other', 3, 30);
    const kept = await addTrashed(domain, 'notes', 5, 29.9);
    await project.api('POST', '/api/data/notes', { body: { n: 'active' } });
    // A concurrent test can take the project first, into a queue without a consumer.
    const purge = async () => {
      await makePurgeDue(domain);
      await purgeTrash();
      return stored(domain, 'notes');
    };
    await expect.poll(purge, { interval: 500, timeout: 60_000 }).toBe(6);
    await eventually(async () => expect(await stored(domain, 'other')).toBe(0));
    expect(await stored(domain, 'notes', { _id: { $in: kept.map((id) => new ObjectId(id)) } })).toBe(5);
  });

  test('skips a new project for a day, and costs one indexed query when none is due', async () => {
    expect(hoursFromNow(await purgeDueAt(domain))).toBeGreaterThan(23.9);
    // Then no project of another test can be due.
    const longAgo = -1;
    vi.spyOn(clock, 'now').mockReturnValue(longAgo);
    expect(await commandsOf(purgeTrash)).toEqual(['mongodb find']);
    const plan = await onControl((db) =>
      db
        .collection('projects')
        .find({ state: 'active', trashDueAt: { $not: { $gt: new Date(longAgo) } } })
        .sort({ trashDueAt: 1 })
        .explain('executionStats'),
    );
    expect(JSON.stringify(plan)).toContain('"indexName":"trash"');
    expect((plan.executionStats as { totalKeysExamined: number }).totalKeysExamined).toBeLessThanOrEqual(2);
  });

  test('a purge stays due when the queue is unavailable', async () => {
    answerForQueues(({ input }) => ({ Failed: input.Entries }));
    // Sooner than any other, and to this process alone.
    const due = new Date(Date.now() + hourMs / 6);
    await makePurgeDue(domain, due);
    vi.spyOn(clock, 'now').mockReturnValue(due.getTime());
    expect(await purgeTrash()).toEqual({ queued: 0 });
    expect(await purgeDueAt(domain)).toEqual(due);
  });

  test('a project is queued again within the hour when its purge has not ended', async () => {
    await makePurgeDue(domain);
    expect((await purgeTrash()).queued).toBeGreaterThanOrEqual(0);
    const due = hoursFromNow(await purgeDueAt(domain));
    expect(due).toBeGreaterThan(0.9);
  });
});

/** Runs `act` after the purge has removed the first batch of `notes`. */
const afterFirstBatch = (act: () => Promise<unknown>): void => {
  const { deleteMany } = Collection.prototype;
  const removals = vi.spyOn(Collection.prototype, 'deleteMany').mockImplementation(async function (
    this: Collection,
    ...args: Parameters<typeof deleteMany>
  ) {
    const removed = await deleteMany.apply(this, args);
    if (this.collectionName !== 'notes') return removed;
    removals.mockRestore();
    await act();
    return removed;
  });
};

describe('the purge of a project', () => {
  test('databaseUsed falls when a purge removes documents', async () => {
    await addTrashed(domain, 'notes', 300, 40, () => ({ text: 'x'.repeat(10_000) }));
    const before = await databaseUsed(domain);
    expect(await purgeProject(domain)).toEqual({ removed: 300, complete: true });
    expect(before - (await databaseUsed(domain))).toBeGreaterThan(300 * 10_000);
  });

  test('uses the index of the trash, with one query per collection when the trash is empty', async () => {
    await addTrashed(domain, 'notes', 50, 31);
    await addTrashed(domain, 'notes', 50, 10);
    const plans = await plansOf(domain, () => purgeProject(domain));
    expect(plans.map(({ command }) => command).sort()).toEqual(['delete', 'find', 'find']);
    for (const { stages } of plans.filter(({ command }) => command === 'find')) {
      expect(stages.join()).toContain('IXSCAN basalt_trash');
      expect(stages).not.toContain('SORT');
    }
    expect(await commandsOf(() => purgeProject(domain))).toEqual(['mongodb find', 'mongodb find', 'mongodb find']);
  });

  test('a purge stops when the project has moved to another database or was deleted', async () => {
    await addTrashed(domain, 'notes', 10, 31);
    for (const elsewhere of [
      { ...domain, placement: { kind: 'managed', cell: 'former' } as const },
      { ...domain, id: 'f'.repeat(24) },
    ]) {
      expect(
        (
          await removeTrashed(
            elsewhere,
            { name: 'notes', rls: noRowSecurity },
            trashedBy(trashEnd()),
            clock.now() + 5000,
          )
        ).complete,
      ).toBe(false);
    }
    expect(await stored(domain, 'notes')).toBe(10);
    expect(await purgeProject(domain)).toEqual({ removed: 10, complete: true });
  });

  test('a purge keeps a document when it is restored meanwhile', async () => {
    const ids = await addTrashed(domain, 'notes', 3000, 31);
    const some = ids.filter((_, index) => index % 60 === 0);
    const restored: string[] = [];
    await Promise.all([
      purgeProject(domain),
      ...some.map(async (id) => {
        const path = `/api/projects/${project.id}/collections/notes/trash/${id}/restore`;
        if ((await developer.dashboard('POST', path)).status === 200) restored.push(id);
      }),
    ]);
    expect(await stored(domain, 'notes')).toBe(restored.length);
    expect(await stored(domain, 'notes', { _id: { $in: restored.map((id) => new ObjectId(id)) } })).toBe(
      restored.length,
    );
  });

  test('each document is removed one time when ten purges run concurrently', async () => {
    await addTrashed(domain, 'notes', 2500, 31);
    const runs = await inParallel(10, () => purgeProject(domain));
    expect(runs.reduce((sum, { removed }) => sum + removed, 0)).toBe(2500);
    expect(await stored(domain, 'notes')).toBe(0);
  });

  test('a purge queues its continuation when it runs out of time', async () => {
    await addTrashed(domain, 'notes', 3000, 31);
    const queued = answerForQueues();
    try {
      await runPurge(domain.id, 1);
      expect(await stored(domain, 'notes')).toBeGreaterThan(0);
      expect(hoursFromNow(await purgeDueAt(domain))).toBeLessThan(1.1);
      expect(queued.map(({ input }) => JSON.parse(String(input.MessageBody)) as object)).toMatchObject([
        { task: 'purge-trash', projectId: domain.id },
      ]);
    } finally {
      vi.restoreAllMocks();
    }
    await runTask(taskEvent(domain));
    expect(await stored(domain, 'notes')).toBe(0);
    expect(hoursFromNow(await purgeDueAt(domain))).toBeGreaterThan(20);
  });

  test('a purge runs again when the trash was emptied meanwhile', async () => {
    // The messages are lost, and the project is not due by the clock of the stack, so that no other run works on it.
    answerForQueues();
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + hourMs);
    await addTrashed(domain, 'notes', 1500, 1);
    expect(await emptyTrash(domain, { name: 'notes', rls: noRowSecurity })).toMatchObject({ complete: false });
    afterFirstBatch(async () => {
      await addTrashed(domain, 'notes', 1500, 0);
      expect(await emptyTrash(domain, { name: 'notes', rls: noRowSecurity })).toMatchObject({ complete: false });
    });
    await purgeProject(domain);
    await purgeProject(domain);
    vi.restoreAllMocks();
    expect(await stored(domain, 'notes')).toBe(0);
  });

  test('does not reschedule the next one when another run has taken over', async () => {
    await addTrashed(domain, 'notes', 10, 31);
    const theirs = new Date(Date.now() + hourMs / 2);
    afterFirstBatch(() =>
      onControl((db) =>
        db.collection('projects').updateOne({ _id: new ObjectId(project.id) }, { $set: { trashDueAt: theirs } }),
      ),
    );
    await runPurge(domain.id);
    expect(await stored(domain, 'notes')).toBe(0);
    expect(await purgeDueAt(domain)).toEqual(theirs);
  });

  test('users are kept when a purge runs', async () => {
    await project.addCollection({
      name: 'users',
      schema: [
        { key: 'email', type: 'String', required: true, unique: true },
        { key: 'password', type: 'String', required: true },
      ],
    });
    await addTrashed(domain, 'users', 1, 31, () => ({ email: 'a@example.com', password: 'x' }));
    await purgeProject(domain);
    expect(await stored(domain, 'users')).toBe(1);
  });

  test('does nothing when the project was deleted', async () => {
    await expect(runPurge('f'.repeat(24))).resolves.toBeUndefined();
  });
});

describe('a failure', () => {
  /** A view gives ids away but takes no deletes. */
  const breakCollection = async (): Promise<void> => {
    await project.addCollection({ name: 'broken' });
    await onProject(domain, async (db) => {
      await db.dropCollection('broken');
      await db.createCollection('broken', { viewOn: 'notes', pipeline: [] });
    });
  };

  test('of one collection does not delay other collections and projects, and the task is retried', async () => {
    const neighbour = await newProject([{ name: 'notes' }], developer);
    const theirs = await domainProject(neighbour);
    await breakCollection();
    for (const each of [domain, theirs]) await addTrashed(each, 'notes', 10, 31);
    const { batchItemFailures } = await runTask(taskEvent(domain, theirs));
    expect(batchItemFailures).toEqual([{ itemIdentifier: domain.id }]);
    expect([await stored(domain, 'notes'), await stored(theirs, 'notes')]).toEqual([0, 0]);
  });

  test('of a customer’s database is retried the next day', async () => {
    const external = { kind: 'external', encryptedUri: 'none', host: 'db.example.com' };
    await onControl((db) =>
      db.collection('projects').updateOne({ _id: new ObjectId(project.id) }, { $set: { placement: external } }),
    );
    expect(await runTask(taskEvent(domain))).toEqual({ batchItemFailures: [] });
    expect(hoursFromNow(await purgeDueAt(domain))).toBeGreaterThan(20);
  });

  test('to parse a message does not requeue it', async () => {
    const event = taskEvent(domain);
    for (const body of ['', '{}', '{"task":"purge-trash"}', '{"task":"other","projectId":"x"}', 'purge-trash']) {
      const records = event.Records.map((record) => ({ ...record, body }));
      expect(await runTask({ Records: records })).toEqual({ batchItemFailures: [] });
    }
  });
});
