import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCollection } from '../../../shared/collections/create-collection.ts';
import { requireCollection } from '../../../shared/collections/find-collections.ts';
import { ensureControlIndexes } from '../../../shared/control-indexes.ts';
import { clock } from '../../../shared/core/clock.ts';
import { connectDatabase } from '../../../shared/customer-database/connect.ts';
import { removeDeletedProjects } from '../../../shared/deletion/projects.ts';
import { createDocument, updateDocument } from '../../../shared/documents/store/write-documents.ts';
import { closeMongo, onControl } from '../../../shared/persistence/mongo.ts';
import { deleteProject } from '../../../shared/projects/change-project.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { testWebhook } from '../../../shared/webhooks/deliveries.ts';
import { enqueueDeliveries } from '../../../shared/webhooks/events.ts';
import { createWebhook, deleteWebhook } from '../../../shared/webhooks/manage.ts';
import { noteReceipt } from '../../../shared/webhooks/outcomes.ts';
import { deliveryRecords, type WebhookRecord, webhookRecords } from '../../../shared/webhooks/records.ts';
import { postEvent } from '../../../shared/webhooks/send.ts';
import { runWebhook } from '../../../shared/webhooks/worker.ts';
import { inParallel } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { makeProject, type OwnProject } from '../../support/fixtures/operations/operation.ts';
import { type OwnDatabase, startOwnDatabase } from '../../support/fixtures/own-database.ts';
import { serveVerifiers } from '../../support/fixtures/own-project.ts';
import { useOwnTable } from '../../support/fixtures/own-table.ts';
import { type Received, Receiver, verify } from '../../support/fixtures/receiver.ts';

// Runs of this process only, with its own clock: the stack uses another control database.
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const start = Date.now();

let receiver: Receiver;
let own: OwnProject;
let project: Project;

const at = (ms: number) => vi.spyOn(clock, 'now').mockReturnValue(ms);

beforeAll(async () => {
  await closeMongo();
  listenToCommands();
  process.env.CONTROL_DATABASE = `control_${randomBytes(6).toString('hex')}`;
  await useOwnTable();
  await ensureControlIndexes();
});

beforeEach(async () => {
  own = await makeProject([], 'pro');
  ({ project } = own);
  receiver = await Receiver.start();
});

afterEach(async () => {
  vi.restoreAllMocks();
  await webhookRecords.deleteMany({});
  await receiver.close();
});

afterAll(closeMongo);

const newWebhook = async (): Promise<ObjectId> => {
  const { _id } = await createWebhook(project, { url: receiver.url, events: ['user.created'] }, undefined);
  return new ObjectId(_id);
};

const recordOf = async (_id: ObjectId): Promise<WebhookRecord> => {
  const record = await webhookRecords.findOne({ _id });
  if (!record) throw new Error('The webhook is gone');
  return record;
};

const rowsOf = (webhookId: ObjectId) => deliveryRecords.find({ webhookId }, { sort: { _id: -1 } });

/** Queues a test delivery and starts a run at this time. */
const deliverAt = async (webhookId: ObjectId, ms: number): Promise<void> => {
  at(ms);
  await testWebhook(project, webhookId.toHexString());
  await runWebhook(webhookId);
};

const answering = (status: number): void => {
  receiver.behaviour = (_received, response) => response.writeHead(status).end();
};

const mailsTo = (to: string) => onControl((db) => db.collection('mailLogs').find({ to }).toArray());
const ownersAddress = async (): Promise<string> => {
  const owner = await onControl((db) => db.collection('developers').findOne({ _id: new ObjectId(own.ownerId) }));
  return String(owner?.email);
};

describe('a delivery that fails', () => {
  test('fails when eight attempts failed, after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h', async () => {
    answering(500);
    const _id = await newWebhook();
    await deliverAt(_id, start);
    const waits: number[] = [];
    for (let now = start; ; ) {
      const [row] = await rowsOf(_id);
      if (!row?.nextAt) break;
      at(row.nextAt.getTime() - 1);
      await runWebhook(_id);
      expect(receiver.received).toHaveLength(waits.length + 1);
      waits.push(row.nextAt.getTime() - now);
      now = row.nextAt.getTime();
      at(now);
      await runWebhook(_id);
    }
    expect(waits).toEqual([5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour]);
    const [row] = await rowsOf(_id);
    expect(row).toMatchObject({ state: 'failed', nextAt: null });
    expect(row?.attempts.map(({ status }) => status)).toEqual(Array(8).fill(500));
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    at(clock.now() + 48 * hour);
    await runWebhook(_id);
    expect(receiver.received).toHaveLength(8);
  });

  test('waits at least its normal time and at most 24 h when the receiver sends Retry-After', async () => {
    const _id = await newWebhook();
    for (const [seconds, wait] of [
      [1, 5 * second],
      [100_000_000, 24 * hour],
    ] as const) {
      receiver.behaviour = (_received, response) => response.writeHead(503, { 'retry-after': String(seconds) }).end();
      await deliverAt(_id, start + seconds);
      const [row] = await rowsOf(_id);
      expect((row?.nextAt?.getTime() ?? 0) - start - seconds).toBe(wait);
    }
  });
});

describe('a webhook', () => {
  test('is switched off with one email to the owner when it has no success for five days', async () => {
    const _id = await newWebhook();
    answering(500);
    await deliverAt(_id, start);
    await deliverAt(_id, start + 120 * hour - 1);
    expect((await recordOf(_id)).enabled).toBe(true);
    expect(await mailsTo(await ownersAddress())).toEqual([]);
    const record = await recordOf(_id);
    at(start + 120 * hour);
    await inParallel(50, () => noteReceipt(project, record, { status: 500, ms: 1 }));
    expect(await recordOf(_id)).toMatchObject({ enabled: false });
    expect(await recordOf(_id)).not.toHaveProperty('failingSince');
    expect(await mailsTo(await ownersAddress())).toMatchObject([{ templateUsed: 'Webhook switched off' }]);
  });

  test('stays on when a success or an edit came before the failure', async () => {
    const _id = await newWebhook();
    answering(500);
    await deliverAt(_id, start);
    const stale = await recordOf(_id);
    at(start + 120 * hour);
    await noteReceipt(project, stale, { status: 200, ms: 1 });
    await noteReceipt(project, stale, { status: 500, ms: 1 });
    expect((await recordOf(_id)).enabled).toBe(true);
  });

  test('starts counting again when a delivery succeeds in between', async () => {
    const _id = await newWebhook();
    for (const [status, hours] of [
      [500, 0],
      [200, 100],
      [500, 119],
      [500, 121],
    ] as const) {
      answering(status);
      await deliverAt(_id, start + hours * hour);
    }
    expect((await recordOf(_id)).enabled).toBe(true);
  });

  test('waits, and delays no quick one, when two of 50 slow ones are delivering', async () => {
    const [quick, ...slow] = await Promise.all(Array.from({ length: 50 }, newWebhook));
    if (!quick) throw new Error('There are 50');
    at(start);
    await webhookRecords.updateMany({ _id: { $in: slow } }, { $set: { isSlow: true } });
    for (const _id of [quick, ...slow]) await testWebhook(project, _id.toHexString());
    const answers: (() => void)[] = [];
    receiver.behaviour = (_received, response) => {
      const answer = () => response.writeHead(204).end();
      if (answers.length < 2) answers.push(answer);
      else answer();
    };
    const isOver = Promise.withResolvers<void>();
    let left = slow.length - 2;
    const stepped = async (_id: ObjectId) => {
      await runWebhook(_id, hour);
      if (--left === 0) isOver.resolve();
    };
    const runs = slow.map(stepped);
    await isOver.promise;
    const waiting = await webhookRecords.find({ _id: { $in: slow }, leasedUntil: new Date(0) });
    expect(waiting.map(({ dueAt }) => dueAt)).toEqual(Array(47).fill(new Date(start + 5 * second)));
    const [one] = waiting;
    if (!one) throw new Error('47 wait');
    await eventually(() => expect(answers).toHaveLength(2));
    await runWebhook(quick);
    expect(receiver.received).toHaveLength(3);
    for (const answer of answers) answer();
    await Promise.all(runs);
    await runWebhook(one._id);
    expect(receiver.received).toHaveLength(4);
  });

  test('keeps its place among the slow ones when its run was killed', async () => {
    const [killed, other, third] = await Promise.all([newWebhook(), newWebhook(), newWebhook()]);
    for (const _id of [killed, other, third]) {
      await noteReceipt(project, await recordOf(_id), { status: 200, ms: 5001 });
      expect((await recordOf(_id)).isSlow).toBe(true);
    }
    await webhookRecords.updateOne({ _id: killed }, { $set: { slowPlace: 0 } });
    await webhookRecords.updateOne({ _id: other }, { $set: { slowPlace: 1 } });
    await deliverAt(third, start);
    expect(receiver.received).toEqual([]);
    await deliverAt(killed, start);
    await runWebhook(third);
    expect(receiver.received).toHaveLength(2);
    expect(await recordOf(killed)).not.toHaveProperty('slowPlace');
    await noteReceipt(project, await recordOf(killed), { status: 200, ms: 1 });
    expect(await recordOf(killed)).not.toHaveProperty('isSlow');
  });

  test('is deleted with its log when its project is deleted', async () => {
    const _id = await newWebhook();
    await deliverAt(_id, start);
    expect(await rowsOf(_id)).toHaveLength(1);
    await deleteProject(await own.owned());
    at(start + hour);
    await removeDeletedProjects();
    expect([await rowsOf(_id), await webhookRecords.findOne({ _id })]).toEqual([[], null]);
  });
});

describe('documents', () => {
  /** A webhook for a collection with this many new documents. */
  const newNotes = async (count: number) => {
    await createCollection(project, 'notes', { schema: null, changes: true });
    const notes = await requireCollection(project, 'notes');
    const wanted = { url: receiver.url, events: ['document.created', 'document.updated'] };
    const { _id } = await createWebhook(project, wanted, undefined);
    const ids: string[] = [];
    for (let number = 0; number < count; number++) {
      const { document } = await createDocument({ project, collection: notes, caller: { kind: 'secret' } }, { number });
      ids.push(String(document._id));
    }
    return { notes, ids, webhookId: new ObjectId(_id) };
  };

  test('are read together when many changed', async () => {
    const { ids, webhookId } = await newNotes(60);
    const commands = await commandsOf(() => runWebhook(webhookId));
    expect(receiver.received.map(({ id }) => id).sort()).toEqual(ids.map((id) => `${id}.1`).sort());
    expect(commands.filter((name) => name === 'mongodb find').length).toBeLessThan(60);
  });

  test('are sent as operators leave them', async () => {
    const { notes, ids, webhookId } = await newNotes(1);
    await runWebhook(webhookId);
    const context = { project, collection: notes, caller: { kind: 'secret' } } as const;
    await updateDocument(context, ids[0] ?? '', { $inc: { number: 5 }, $push: { list: 'a' } });
    await runWebhook(webhookId);
    expect(receiver.received.at(-1)?.body).toMatchObject({
      type: 'document.updated',
      data: { document: { _id: ids[0], number: 5, list: ['a'] } },
    });
  });

  test('are sent again when they change during a delivery', async () => {
    const { notes, ids, webhookId } = await newNotes(2);
    const [changed = '', other = ''] = ids;
    const answers: (() => void)[] = [];
    receiver.behaviour = (_received, response) => {
      const answer = () => response.writeHead(204).end();
      if (answers.length < 2) answers.push(answer);
      else answer();
    };
    const run = runWebhook(webhookId);
    await eventually(() => expect(answers).toHaveLength(2));
    await updateDocument({ project, collection: notes, caller: { kind: 'secret' } }, changed, { title: 'later' });
    const marked = { webhookId, thing: `document/notes/${changed}`, marks: 2 };
    await eventually(async () => expect(await deliveryRecords.findOne(marked)).not.toBeNull());
    for (const answer of answers) answer();
    await run;
    const events = [`${changed}.1`, `${changed}.2`, `${other}.1`].sort();
    expect(receiver.received.map(({ id }) => id).sort()).toEqual(events);
    const rows = await rowsOf(webhookId);
    expect(rows.map(({ attempts }) => attempts.map(({ of }) => of).join()).sort()).toEqual(events);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['delivered']));
  });
});

describe('documents of the project’s own database', () => {
  let database: OwnDatabase;
  let stopVerifiers: () => Promise<void>;

  beforeAll(async () => {
    database = await startOwnDatabase();
    stopVerifiers = await serveVerifiers();
  });

  afterAll(async () => {
    await stopVerifiers();
    await database.stop();
  });

  test('are delivered later, without delaying other events, when the database is down', async () => {
    await createCollection(project, 'notes', { schema: null, changes: true });
    await connectDatabase(await own.owned(), database.uri('theirs'));
    ({ project } = await own.owned());
    const notes = await requireCollection(project, 'notes');
    const made = await createWebhook(
      project,
      { url: receiver.url, events: ['document.created', 'document.updated'] },
      undefined,
    );
    const _id = new ObjectId(made._id);
    const { document } = await createDocument(
      { project, collection: notes, caller: { kind: 'secret' } },
      { title: 'mine' },
    );
    await runWebhook(_id);
    expect(receiver.received.map(({ id }) => id)).toEqual([`${document._id}.1`]);
    expect(receiver.received[0]?.body.data).toMatchObject({ document: { title: 'mine' } });
    expect(() => verify(made.secret, receiver.received[0] as Received)).not.toThrow();
    await updateDocument({ project, collection: notes, caller: { kind: 'secret' } }, String(document._id), {
      title: 'later',
    });
    await database.proxy.refuse();
    await testWebhook(project, made._id);
    await runWebhook(_id);
    expect(receiver.received.map(({ body }) => body.type)).toEqual(['document.created', 'webhook.test']);
    await database.proxy.heal();
    await eventually(async () => {
      await runWebhook(_id);
      expect(receiver.received.map(({ id }) => id)).toContain(`${document._id}.2`);
    });
    expect(receiver.received.at(-1)?.body.type).toBe('document.updated');
  });

  test('are delivered to an older webhook when they were written after the database was connected', async () => {
    await createCollection(project, 'notes', { schema: null, changes: true });
    const notes = await requireCollection(project, 'notes');
    const made = await createWebhook(
      project,
      { url: receiver.url, events: ['document.created', 'document.updated'] },
      undefined,
    );
    const _id = new ObjectId(made._id);
    await createDocument({ project, collection: notes, caller: { kind: 'secret' } }, { title: 'before' });
    await runWebhook(_id);
    await connectDatabase(await own.owned(), database.uri('moved'));
    ({ project } = await own.owned());
    const { document } = await createDocument(
      { project, collection: notes, caller: { kind: 'secret' } },
      { title: 'moved' },
    );
    await runWebhook(_id);
    const later = await createDocument({ project, collection: notes, caller: { kind: 'secret' } }, { title: 'later' });
    await runWebhook(_id);
    expect(receiver.received.map(({ id }) => id)).toContain(`${later.document._id}.1`);
    expect(receiver.received.map(({ id }) => id)).toContain(`${document._id}.1`);
  });
});

test('a webhook leaves nothing in the log when it is deleted during a delivery', async () => {
  const _id = await newWebhook();
  await testWebhook(project, _id.toHexString());
  const [row] = await rowsOf(_id);
  const thing = row?.thing ?? '';
  receiver.behaviour = (_received, response) => {
    const late = {
      projectId: new ObjectId(project.id),
      webhookId: _id,
      thing,
      type: 'webhook.test',
      at: new Date(),
      from: new Date(),
    };
    void deleteWebhook(project, _id.toHexString())
      .then(() => enqueueDeliveries([late]))
      .then(() => response.writeHead(204).end());
  };
  await runWebhook(_id);
  expect(receiver.received).toHaveLength(1);
  expect(await rowsOf(_id)).toEqual([]);
});

describe('a receiver', () => {
  /** The time of a try, which the caller ends. */
  const limit = (): { readonly asked: number[]; readonly end: () => void } => {
    const asked: number[] = [];
    const late = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      asked.push(ms);
      return late.signal;
    });
    return { asked, end: () => late.abort(new DOMException('late', 'TimeoutError')) };
  };

  test('counts as failed, with a reason in the log, when it does not respond within 15 s', async () => {
    const { asked, end } = limit();
    const came = Promise.withResolvers<void>();
    receiver.behaviour = () => came.resolve();
    const receipt = postEvent(receiver.url, {}, '{}');
    await came.promise;
    end();
    expect(await receipt).toMatchObject({ status: null, error: 'There was no response within 15 s.' });
    expect(asked).toEqual([15 * second]);
  });

  test('counts as reached when its response begins within 15 s and never ends', async () => {
    const { end } = limit();
    const onAnswer = () => setImmediate(end);
    subscribe('http.client.response.finish', onAnswer);
    receiver.behaviour = (_received, response) => response.writeHead(200).write('a');
    const receipt = postEvent(receiver.url, {}, '{}');
    expect(await receipt).toMatchObject({ status: 200 });
    unsubscribe('http.client.response.finish', onAnswer);
  });
});
