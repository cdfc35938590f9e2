import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { runCollectionEffects } from '../../../shared/documents/effects/run-effects.ts';
import { purgeProject } from '../../../shared/documents/store/purge.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
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

/* Effects send emails after deletions, one time, also if nothing is left of the document. */

const mail = { template: 'Bye', to: { $doc: 'to', open: true } };
const schema = [
  { key: 'to', type: 'String' },
  { key: 'n', type: 'Number' },
  { key: 'parent', type: 'Ref', ref: 'parents', onDelete: 'trash' },
];
const counting = { op: 'insert', collection: 'logs', document: { of: { $doc: '_id' } } };
const onDelete = { on: 'delete', mail };
const names = ['plain', 'fed', 'counted', 'chosen'] as const;

let made: TestProject;
let project: Project;

beforeAll(async () => {
  // Only the test takes the tasks.
  process.env.WORK_QUEUE_URL = await stillQueue(process.env.AWS_ENDPOINT_URL ?? '');
  made = await newProject([{ name: 'parents' }, { name: 'logs', schema: [{ key: 'of', type: 'String' }] }]);
  const base = `/api/projects/${made.id}`;
  await made.developer.dashboard('PATCH', base, { providerApiKey: newProviderKey() });
  await made.developer.dashboard('POST', `${base}/mail/templates`, { name: 'Bye', subject: 'Bye {{n}}', text: 'Bye' });
  await made.addCollection({ name: 'plain', schema, effects: [onDelete] });
  await made.addCollection({ name: 'fed', schema, changes: true, effects: [onDelete] });
  await made.addCollection({ name: 'counted', schema, effects: [{ ...onDelete, writes: [counting] }] });
  await made.addCollection({ name: 'chosen', schema, effects: [{ ...onDelete, where: { n: 1 } }] });
  project = await domainProject(made);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.com`;

const create = async (name: string, document: object): Promise<string> => {
  const { status, body } = await made.api<{ _id: string }>('POST', `/api/data/${name}`, { body: document });
  expect(status).toBe(201);
  return body._id;
};

const remove = async (name: string, id: string, permanent = false): Promise<void> => {
  const path = `/api/data/${name}/${id}${permanent ? '?permanent=true' : ''}`;
  expect((await made.api('DELETE', path)).status).toBe(200);
};

/** Runs as after the lease of a killed run. */
let minutes = 0;
const runLater = async (name: string): Promise<void> => {
  minutes += 5;
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + minutes * 60_000);
  await runCollectionEffects(project.id, name);
  vi.restoreAllMocks();
};

const stored = (name: string, id: string) =>
  onProject(project, (db) => db.collection(name).findOne({ _id: new ObjectId(id) }));

const logsOf = (to: string) => mailLogs.find({ projectId: new ObjectId(project.id), to });

const expectMails = async (name: string, to: string, count: number, when = ''): Promise<void> => {
  await runLater(name);
  await eventually(async () => expect(await mailsTo(to), when).toHaveLength(count));
  expect(await logsOf(to), when).toHaveLength(count);
};

describe.each(names)('an effect of delete in %s', (name) => {
  test('sends one email for a move to the trash, and none for what follows', async () => {
    const to = newAddress();
    const id = await create(name, { to, n: 1 });
    await remove(name, id);
    await expectMails(name, to, 1);
    await remove(name, id, true);
    await expectMails(name, to, 1);
  });

  test('sends one email for a permanent deletion, after which nothing is left to read', async () => {
    const to = newAddress();
    const id = await create(name, { to, n: 1 });
    await remove(name, id, true);
    expect((await made.api('GET', `/api/data/${name}/${id}?includeDeleted=true`)).status).toBe(404);
    const trash = await made.api('GET', `/api/data/${name}?includeDeleted=true&filter[to]=${to}`);
    expect(JSON.stringify(trash.body)).not.toContain(id);
    expect((await made.api('PATCH', `/api/data/${name}/${id}/recover`)).status).toBe(404);
    await expectMails(name, to, 1);
    const left = await stored(name, id);
    if (name === 'fed') expect(left).toMatchObject({ _gone: true, _effects: { mails: [] } });
    else expect(left).toBeNull();
    const logs = await onProject(project, (db) => db.collection('logs').countDocuments({ of: id }));
    expect(logs).toBe(name === 'counted' ? 1 : 0);
  });

  test('sends the email of a document that is deleted permanently right after its move to the trash', async () => {
    const to = newAddress();
    const id = await create(name, { to, n: 1 });
    await remove(name, id);
    await remove(name, id, true);
    await expectMails(name, to, 1);
  });

  test('50 concurrent deletions send one email', async () => {
    const to = newAddress();
    const id = await create(name, { to, n: 1 });
    await inParallel(50, () => made.api('DELETE', `/api/data/${name}/${id}?permanent=true`));
    await expectMails(name, to, 1);
  });
});

test('no email follows if the condition does not hold', async () => {
  const [one, other] = [newAddress(), newAddress()];
  await remove('chosen', await create('chosen', { to: one, n: 2 }));
  await remove('chosen', await create('chosen', { to: other, n: 2 }), true);
  await expectMails('chosen', one, 0);
  await expectMails('chosen', other, 0);
});

test('no email follows a cascade, an emptied trash and a purge', async () => {
  const parent = await create('parents', {});
  const [one, other, third] = [newAddress(), newAddress(), newAddress()];
  const child = await create('plain', { to: one, n: 1, parent });
  await remove('parents', parent);
  await eventually(async () => expect(await stored('plain', child)).toMatchObject({ isDeleted: true }));
  await expectMails('plain', one, 0);
  for (const to of [other, third]) await remove('plain', await create('plain', { to, n: 1 }));
  await expectMails('plain', other, 1);
  const path = `/api/projects/${made.id}/collections/plain/trash`;
  expect((await made.developer.dashboard('DELETE', path)).status).toBe(200);
  await purgeProject(project, 10_000);
  await expectMails('plain', other, 1);
  await expectMails('plain', third, 1);
});

test('a deletion killed at any step sends one email if it happened, and none otherwise', async () => {
  for (const name of ['plain', 'counted']) {
    const ends = new Set<string>();
    for (let changes = 0; ; changes++) {
      const to = newAddress();
      const id = await create(name, { to, n: 1 });
      const killed = killAfter(changes);
      const key = { key: made.secretKey, params: { collectionName: name, id }, query: 'permanent=true' };
      await invoke(deleteDocument, { method: 'DELETE', ...key }).catch(() => undefined);
      vi.restoreAllMocks();
      const left = await stored(name, id);
      const isDeleted = left === null || left.isDeleted === true;
      ends.add(isDeleted ? 'deleted' : 'active');
      await runLater(name);
      await expectMails(name, to, isDeleted ? 1 : 0, `${name}, killed before change ${changes}, ${killed.hit()}`);
      if (killed.hit() === undefined) break;
    }
    expect([...ends].sort()).toEqual(['active', 'deleted']);
  }
});
