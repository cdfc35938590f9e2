import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { runCollectionEffects } from '../../../shared/documents/effects/run-effects.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { listRefusals } from '../../../shared/usage/list-rejected.ts';
import { inParallel, type RequestOptions } from '../../support/clients/client.ts';
import { mailAbout } from '../../support/clients/inbox.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { newProviderKey } from '../../support/fixtures/mail-project.ts';
import { type Received, Receiver } from '../../support/fixtures/receiver.ts';
import { stillQueue } from '../../support/fixtures/still-queue.ts';
import { changeStoredUsers, domainProject } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';
import { arrived, makeWebhook } from '../../support/fixtures/webhooks.ts';

/* Effects of a collection run at the time that a field of the document has. */

process.env.USAGE_SECONDS = '2';

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const rls = { enabled: true, mode: 'private' };
const schema = [
  text('title'),
  text('status'),
  text('slug'),
  number('runs'),
  { key: 'due', type: 'Date' },
  { key: 'times', type: 'Object', fields: [{ key: 'end', type: 'Date' }] },
  { key: 'shelf', type: 'Ref', ref: 'shelves' },
];
const counted = { runs: { $add: [{ $doc: 'runs' }, 1] } };
const onShelf = (changes: object) => ({ op: 'update', collection: 'shelves', id: { $doc: 'shelf' }, changes });

const collections = [
  { name: 'shelves', schema: [number('stock', { min: 0 })], rls: { enabled: true, mode: 'public-read' } },
  { name: 'vault', schema: [text('secret'), number('stock')], rls: { enabled: true, mode: 'rules', rules: {} } },
  {
    name: 'posts',
    changes: true,
    effects: [
      { at: 'due', where: { status: 'scheduled' }, set: { status: 'published', ...counted } },
      { on: 'update', set: { slug: { $concat: [{ $doc: 'title' }, ' ', { $doc: 'status' }] } } },
    ],
  },
  { name: 'counts', effects: [{ at: 'due', set: counted }] },
  { name: 'repeats', effects: [{ at: 'due', set: { ...counted, due: { $now: 0 } } }] },
  { name: 'nested', effects: [{ at: 'times.end', set: counted }] },
  { name: 'holds', effects: [{ at: 'due', set: counted, writes: [onShelf({ $inc: { stock: -1 } })] }] },
  {
    name: 'reminders',
    effects: [{ at: 'due', where: { status: 'open' }, mail: { template: 'reminder', to: { $user: 'email' } } }],
  },
  { name: 'named', effects: [{ at: 'due', set: { title: { $user: '_id' } } }] },
  {
    name: 'leaks',
    schema: [...schema, { key: 'vault', type: 'Ref', ref: 'vault' }],
    effects: [{ at: 'due', set: { title: { $doc: 'vault.secret' } } }],
  },
  {
    name: 'trusted',
    schema: [...schema, { key: 'vault', type: 'Ref', ref: 'vault' }],
    effects: [{ at: 'due', set: { title: { $doc: 'vault.secret' } }, trusted: true }],
  },
];

interface Doc extends Readonly<Record<string, unknown>> {
  readonly _id: string;
}

let made: UsersProject;
let project: Project;
let ann: RequestOptions & { readonly email: string; readonly userId: string };

/** The lead of the job's clock. It never falls, because leases end by this clock. */
let minutes = 0;

const now = (): number => Date.now() + minutes * 60_000;
const dueIn = (seconds: number): string => new Date(now() + seconds * 1000).toISOString();

const api = <Body = Doc>(method: string, path: string, who: RequestOptions = {}, body?: unknown) =>
  made.api<Body>(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

const create = async (name: string, body: object, who: RequestOptions = ann): Promise<string> => {
  const answer = await api('POST', name, who, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body._id;
};

const change = async (name: string, id: string, body: object): Promise<void> => {
  expect((await api('PATCH', `${name}/${id}`, ann, body)).status).toBe(200);
};

const read = async (name: string, id: string): Promise<Doc & { readonly rev: string | null }> => {
  const { body, headers } = await api('GET', `${name}/${id}`, ann);
  return { ...body, rev: headers.get('etag') };
};

const run = async (name: string, later = 1): Promise<void> => {
  minutes += later;
  vi.spyOn(clock, 'now').mockImplementation(now);
  await runCollectionEffects(project.id, name);
  vi.restoreAllMocks();
};

/** Runs as after the lease of a killed run. */
const runLater = (name: string): Promise<void> => run(name, 5);

const raw = (name: string, id: string) =>
  onProject(project, (db) => db.collection(name).findOne({ _id: new ObjectId(id) }));

beforeAll(async () => {
  // Only the test takes the tasks.
  process.env.WORK_QUEUE_URL = await stillQueue(process.env.AWS_ENDPOINT_URL ?? '');
  made = await newUsersProject({ settings: { providerApiKey: newProviderKey() } });
  for (const each of collections) await made.addCollection({ schema, rls, ...each });
  const template = { name: 'Reminder', key: 'reminder', subject: 'Reminder of {{title}}', text: '{{user.email}}' };
  await made.developer.dashboard('POST', `/api/projects/${made.id}/mail/templates`, template);
  const { email, userId, accessToken } = await made.newUser();
  await changeStoredUsers(made, { email }, { emailVerified: true });
  ann = { key: made.publishableKey, token: accessToken, email, userId };
  project = await domainProject(made);
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('an effect at a time', () => {
  test('waits for its date, then writes the document one time with one revision', async () => {
    const id = await create('posts', { title: 'A', status: 'scheduled', runs: 0, due: dueIn(90) });
    await run('posts');
    expect(await read('posts', id)).toMatchObject({ status: 'scheduled', runs: 0, rev: '"1"' });
    await run('posts');
    const published = { status: 'published', runs: 1, slug: 'A published', rev: '"2"' };
    expect(await read('posts', id)).toMatchObject(published);
    for (let times = 0; times < 3; times += 1) await run('posts', 11);
    expect(await read('posts', id)).toMatchObject(published);
  });

  test('runs again for a new date, not for the same one', async () => {
    const due = dueIn(-60);
    const id = await create('counts', { runs: 0, due });
    await run('counts');
    await change('counts', id, { due });
    await run('counts', 11);
    expect(await read('counts', id)).toMatchObject({ runs: 1, rev: '"3"' });
    await change('counts', id, { due: dueIn(-30) });
    await run('counts', 11);
    expect(await read('counts', id)).toMatchObject({ runs: 2, rev: '"5"' });
  });

  test('a date within 10 minutes of the last run waits until they are over', async () => {
    const id = await create('counts', { runs: 0, due: dueIn(-60) });
    await run('counts');
    await change('counts', id, { due: dueIn(0) });
    await run('counts', 1);
    await run('counts', 8);
    expect(await read('counts', id)).toMatchObject({ runs: 1 });
    await run('counts', 2);
    expect(await read('counts', id)).toMatchObject({ runs: 2 });
  });

  test('an effect that sets its own date runs every 10 minutes', async () => {
    const id = await create('repeats', { runs: 0, due: dueIn(-60) });
    for (let times = 0; times < 25; times += 1) await run('repeats', 1);
    expect(await read('repeats', id)).toMatchObject({ runs: 3 });
  });

  test('a date in an object counts; null and no date do not', async () => {
    const id = await create('nested', { runs: 0, times: { end: dueIn(-60) } });
    const others = [await create('nested', { runs: 0, times: {} }), await create('nested', { runs: 0 })];
    await run('nested');
    expect(await read('nested', id)).toMatchObject({ runs: 1 });
    for (const other of others) expect(await read('nested', other)).toMatchObject({ runs: 0, rev: '"1"' });
  });

  test('runs when its condition begins to hold after the date', async () => {
    const id = await create('posts', { title: 'B', status: 'draft', runs: 0, due: dueIn(-60) });
    await run('posts');
    await run('posts');
    expect(await read('posts', id)).toMatchObject({ status: 'draft', rev: '"1"' });
    await change('posts', id, { status: 'scheduled' });
    await run('posts');
    expect(await read('posts', id)).toMatchObject({ status: 'published', runs: 1, rev: '"3"' });
  });

  test('leaves documents in the trash out, until they are recovered', async () => {
    const id = await create('counts', { runs: 0, due: dueIn(-60) });
    expect((await api('DELETE', `counts/${id}`, ann)).status).toBe(200);
    await run('counts');
    await run('counts');
    expect((await raw('counts', id))?.runs).toBe(0);
    expect((await api('PATCH', `counts/${id}/recover`, ann)).status).toBe(200);
    await run('counts');
    expect(await read('counts', id)).toMatchObject({ runs: 1 });
  });

  test('does not protect its fields', async () => {
    const id = await create('posts', { title: 'C', status: 'published', runs: 7 });
    await change('posts', id, { runs: 8 });
    expect(await read('posts', id)).toMatchObject({ runs: 8 });
  });

  test('acts for the owner, who must be able to read what it reads unless it is trusted', async () => {
    const id = await create('named', { due: dueIn(-60) });
    await run('named');
    expect(await read('named', id)).toMatchObject({ title: ann.userId });
    const vault = await create('vault', { secret: 'x' }, {});
    const leak = await create('leaks', { vault, due: dueIn(-60) });
    const trusted = await create('trusted', { vault, due: dueIn(-60) });
    await run('leaks');
    await run('trusted');
    expect((await read('leaks', leak)).title).toBeUndefined();
    expect(await read('trusted', trusted)).toMatchObject({ title: 'x' });
  });

  test('publishes its write in the changes feed', async () => {
    const changes = (since: string) =>
      api<{ data: { changes: readonly Doc[]; next: string } }>('GET', `posts/changes?since=${since}`, ann);
    const before = (await api<{ data: { next: string } }>('GET', 'posts/changes', ann)).body.data.next;
    const id = await create('posts', { title: 'D', status: 'scheduled', runs: 0, due: dueIn(-60) });
    await run('posts');
    const { data } = (await changes(before)).body;
    expect(data.changes).toMatchObject([{ _id: id, rev: 2, document: { status: 'published' } }]);
    expect(JSON.stringify(data)).not.toContain('_effects');
  });

  test('nothing of its marks is shown, and a document that is done costs no further search', async () => {
    const id = await create('counts', { runs: 0, due: dueIn(-60) });
    await run('counts');
    expect(Object.keys(await read('counts', id))).not.toContain('_effects');
    await run('counts', 11);
    const stats = await onProject(project, async (db) => {
      const [index] = (await db.collection('counts').indexes()).filter(({ name }) => name?.includes('effect_d'));
      const [seen = '', due = ''] = Object.keys(index?.key ?? {});
      const query = { [seen]: null, [due]: { $lte: new Date(now()), $exists: true } };
      return db.collection('counts').find(query).explain('executionStats');
    });
    expect(stats.executionStats).toMatchObject({ nReturned: 0, totalDocsExamined: 0 });
  });
});

describe('a rejected effect at a time', () => {
  test('is logged, not retried, and leaves nothing', async () => {
    const shelf = await create('shelves', { stock: 0 }, {});
    const id = await create('holds', { runs: 0, shelf, due: dueIn(-60) });
    for (let times = 0; times < 3; times += 1) await run('holds', 11);
    expect(await read('holds', id)).toMatchObject({ runs: 0 });
    await api('PATCH', `shelves/${shelf}`, {}, { stock: 5 });
    await run('holds', 11);
    expect(await read('shelves', shelf)).toMatchObject({ stock: 5 });
    const { items } = await listRefusals(made.id, { page: 1, limit: 100 });
    expect(items.filter(({ collection }) => collection === 'holds')).toMatchObject([
      {
        route: 'effects.0 at due',
        status: 409,
        code: 'EFFECT_REFUSED',
        userId: ann.userId,
        address: '',
        effect: [{ index: 0, effect: 0, write: 0, field: 'stock' }],
      },
    ]);
    await change('holds', id, { due: dueIn(-30) });
    await run('holds', 11);
    expect([await read('holds', id), await read('shelves', shelf)]).toMatchObject([{ runs: 1 }, { stock: 4 }]);
  });
});

describe('runs that race or die', () => {
  test('50 concurrent runs run each effect one time', async () => {
    const shelf = await create('shelves', { stock: 100 }, {});
    const ids = await inParallel(50, () => create('holds', { runs: 0, shelf, due: dueIn(-60) }));
    minutes += 5;
    vi.spyOn(clock, 'now').mockImplementation(now);
    await inParallel(50, () => runCollectionEffects(project.id, 'holds'));
    vi.restoreAllMocks();
    const runs = await Promise.all(ids.map(async (id) => (await read('holds', id)).runs));
    expect(runs).toEqual(ids.map(() => 1));
    expect(await read('shelves', shelf)).toMatchObject({ stock: 50 });
  });

  test('an effect runs one time when its run is killed at any step', async () => {
    for (let changes = 0; ; changes++) {
      const id = await create('counts', { runs: 0, due: dueIn(-60) });
      const killed = killAfter(changes);
      await run('counts').catch(() => undefined);
      vi.restoreAllMocks();
      await runLater('counts');
      await run('counts', 11);
      expect(await read('counts', id), `killed before change ${changes}, ${killed.hit()}`).toMatchObject({
        runs: 1,
        rev: '"2"',
      });
      if (killed.hit() === undefined) break;
    }
  });

  test('its write is sent to webhooks', async () => {
    const receiver = await Receiver.start();
    try {
      await makeWebhook(made, receiver, { events: ['document.updated'], collections: ['posts'] });
      const id = await create('posts', { title: 'Told', status: 'scheduled', runs: 0, due: dueIn(-60) });
      await run('posts');
      const isOurs = ({ body }: Received): boolean => JSON.stringify(body.data).includes(id);
      expect((await arrived(receiver, isOurs)).body).toMatchObject({
        type: 'document.updated',
        data: { collection: 'posts', document: { status: 'published' } },
      });
    } finally {
      await receiver.close();
    }
  });

  test('its email is sent one time when its run is killed at any step', async () => {
    for (let changes = 0; ; changes++) {
      const title = `Kill ${changes}`;
      await create('reminders', { title, status: 'open', due: dueIn(-60) });
      const killed = killAfter(changes);
      await run('reminders').catch(() => undefined);
      vi.restoreAllMocks();
      await runLater('reminders');
      await run('reminders', 11);
      // A log whose queue message was lost waits for the job of lost emails, whose clock is not ahead.
      const logs = await mailLogs.find({ projectId: new ObjectId(project.id), templateUsed: 'reminder' });
      const when = `killed before change ${changes}, ${killed.hit()}`;
      expect(logs, when).toHaveLength(changes + 1);
      expect(logs.every(({ to }) => to[0] === ann.email)).toBe(true);
      const pending = { '_effects.mails.0': { $exists: true } };
      expect(await onProject(project, (db) => db.collection('reminders').countDocuments(pending)), when).toBe(0);
      if (killed.hit() === undefined) break;
    }
    expect((await mailAbout(ann.email, /Kill 0/)).text).toBe(ann.email);
  });
});
