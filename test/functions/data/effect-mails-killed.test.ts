import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { runCollectionEffects } from '../../../shared/documents/effects/run-effects.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { mailUsage } from '../../../shared/mail/quota.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { mailsTo } from '../../support/clients/inbox.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { newProviderKey } from '../../support/fixtures/mail-project.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { stillQueue } from '../../support/fixtures/still-queue.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

/* An email of an effect is sent one time, whatever step its request or its run was killed at. */

process.env.RATE_LIMIT = '0';

let made: TestProject;
let project: Project;

beforeAll(async () => {
  // Only the test takes the tasks.
  process.env.WORK_QUEUE_URL = await stillQueue(process.env.AWS_ENDPOINT_URL ?? '');
  made = await newProject();
  const base = `/api/projects/${made.id}`;
  await made.developer.dashboard('PATCH', base, { providerApiKey: newProviderKey() });
  await made.developer.dashboard('POST', `${base}/mail/templates`, { name: 'Hello', subject: '{{n}}', text: 'Hi' });
  const schema = [
    { key: 'to', type: 'String' },
    { key: 'n', type: 'Number' },
  ];
  const mail = { template: 'Hello', to: { $doc: 'to', open: true } };
  await made.addCollection({ name: 'notes', schema, changes: true, effects: [{ on: ['create', 'update'], mail }] });
  project = await domainProject(made);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.com`;

const create = (to: string) =>
  invoke(createDocument, { key: made.secretKey, params: { collectionName: 'notes' }, body: { to, n: 1 } });

/** Runs as after the lease of a killed run. */
const runLater = async (minutes: number): Promise<void> => {
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + minutes * 60_000);
  await runCollectionEffects(project.id, 'notes');
  vi.restoreAllMocks();
};

const documentsOf = (to: string) => onProject(project, (db) => db.collection('notes').find({ to }).toArray());

const logsOf = (to: string) => mailLogs.find({ projectId: new ObjectId(project.id), to });

const stillPending = (to: string) =>
  onProject(project, (db) => db.collection('notes').countDocuments({ to, '_effects.mails.0': { $exists: true } }));

/** The email was sent `count` times, and nothing is left to do. */
const expectSent = async (to: string, count: number, when: string): Promise<void> => {
  await eventually(async () => expect(await mailsTo(to), when).toHaveLength(count));
  expect(await logsOf(to), when).toHaveLength(count);
  expect(await stillPending(to), when).toBe(0);
};

test('an email is sent one time when its request is killed at any step after the write', async () => {
  const stored = new Set<number>();
  for (let changes = 0; ; changes++) {
    const to = newAddress();
    const killed = killAfter(changes);
    await create(to).catch(() => undefined);
    vi.restoreAllMocks();
    const { length } = await documentsOf(to);
    stored.add(length);
    await runLater(5);
    await runLater(10);
    await expectSent(to, length, `killed before change ${changes}, ${killed.hit()}`);
    if (killed.hit() === undefined) break;
  }
  expect([...stored].sort()).toEqual([0, 1]);
});

test('an email is sent and counted one time when its run is killed at any step', async () => {
  for (let changes = 0; ; changes++) {
    const to = newAddress();
    expect((await create(to)).status).toBe(201);
    const before = (await mailUsage(project)).used;
    const killed = killAfter(changes);
    await runCollectionEffects(project.id, 'notes').catch(() => undefined);
    vi.restoreAllMocks();
    await runLater(5 + 5 * changes);
    await runLater(10 + 5 * changes);
    const when = `killed before change ${changes}, ${killed.hit()}`;
    await expectSent(to, 1, when);
    expect((await mailUsage(project)).used - before, when).toBe(1);
    if (killed.hit() === undefined) break;
  }
});

test('an email is sent one time by 50 concurrent runs', async () => {
  const to = newAddress();
  expect((await create(to)).status).toBe(201);
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 24 * 60_000 * 10);
  await inParallel(50, () => runCollectionEffects(project.id, 'notes'));
  vi.restoreAllMocks();
  await expectSent(to, 1, 'concurrently');
});

test('an update that is killed leaves no email of a write that did not happen', async () => {
  const to = newAddress();
  const { _id } = (await create(newAddress())).body as { _id: string };
  const update = () =>
    invoke(updateDocument, {
      key: made.secretKey,
      params: { collectionName: 'notes', id: _id },
      body: { to, n: 2 },
    });
  const killed = killAfter(0);
  await update().catch(() => undefined);
  vi.restoreAllMocks();
  expect(killed.hit()).toBeDefined();
  await runLater(60 * 5);
  await expectSent(to, 0, 'killed');
  expect((await update()).status).toBe(200);
  await runLater(60 * 6);
  await expectSent(to, 1, 'done');
});
