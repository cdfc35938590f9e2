import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/clients/eventually.ts';
import { confirm, put, remove, request, uploadFile } from '../../support/fixtures/files.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { type Received, Receiver, verify } from '../../support/fixtures/receiver.ts';
import { users } from '../../support/fixtures/users.ts';
import { arrived, type Delivery, deliveriesOf, makeWebhook, onWebhooksOf } from '../../support/fixtures/webhooks.ts';

let project: TestProject;
const receivers: Receiver[] = [];

const newReceiver = async (): Promise<Receiver> => {
  const receiver = await Receiver.start();
  receivers.push(receiver);
  return receiver;
};

const onDocuments = ['document.created', 'document.updated', 'document.deleted'];

let collections = 0;

/** The delivery of a new document that has the signature of each; a run under way may have read older secrets. */
const signedWith = (secrets: readonly string[], receiver: Receiver, posts: string): Promise<Received> =>
  eventually(async () => {
    const _id = await write('POST', posts);
    const received = await arrived(receiver, ({ id }) => id === `${_id}.1`);
    for (const secret of secrets) verify(secret, received);
    return received;
  });

/** An own collection, so that webhooks of one test receive only its documents. */
const newCollection = async (): Promise<string> => {
  const name = `posts${++collections}`;
  await project.addCollection({ name, changes: true });
  return name;
};

const write = async (method: string, path: string, body: object = {}): Promise<string> => {
  const answer = await project.api<{ _id: string }>(method, `/api/data/${path}`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body._id;
};

beforeAll(async () => {
  project = await newProject([users]);
});

afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())));

describe('documents', () => {
  test('are delivered and signed when they are created, updated, trashed and restored', async () => {
    const receiver = await newReceiver();
    const [posts, others] = [await newCollection(), await newCollection()];
    const { secret } = await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    await write('POST', others, { title: 'not told of' });
    const _id = await write('POST', posts, { title: 'a' });
    const made = await arrived(receiver, ({ id }) => id === `${_id}.1`);
    expect(made.body).toMatchObject({
      type: 'document.created',
      data: { collection: posts, document: { _id, title: 'a' } },
    });
    expect(made.body.data.document).not.toHaveProperty('_rev');
    await write('PATCH', `${posts}/${_id}`, { title: 'b' });
    const changed = await arrived(receiver, ({ id }) => id === `${_id}.2`);
    expect(changed.body).toMatchObject({ type: 'document.updated', data: { document: { title: 'b' } } });
    await write('DELETE', `${posts}/${_id}`);
    const deleted = await arrived(receiver, ({ id }) => id === `${_id}.3`);
    expect(deleted.body).toMatchObject({ type: 'document.deleted', data: { collection: posts, _id } });
    await write('PATCH', `${posts}/${_id}/recover`);
    expect((await arrived(receiver, ({ id }) => id === `${_id}.4`)).body.type).toBe('document.updated');
    await write('DELETE', `${posts}/${_id}?permanent=true`);
    expect((await arrived(receiver, ({ id }) => id === `${_id}.5`)).body.type).toBe('document.deleted');
    for (const received of receiver.received) expect(() => verify(secret, received)).not.toThrow();
    expect(receiver.received.every(({ body }) => body.data.collection === posts)).toBe(true);
  });

  test('are delivered with the time of the change when an attempt is repeated', async () => {
    const receiver = await newReceiver();
    const posts = await newCollection();
    await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    receiver.behaviour = (_received, response, before) => response.writeHead(before.length === 0 ? 500 : 204).end();
    const _id = await write('POST', posts);
    await eventually(() => expect(receiver.received).toHaveLength(2));
    const { body } = await project.api<{ updatedAt: string }>('GET', `/api/data/${posts}/${_id}`);
    expect(receiver.received.map(({ body: { timestamp } }) => timestamp)).toEqual([body.updatedAt, body.updatedAt]);
    const [first, second] = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(second).toBeGreaterThan(first ?? Number.NaN);
    await write('DELETE', `${posts}/${_id}`);
    const deleted = await arrived(receiver, ({ id }) => id === `${_id}.2`);
    const trashed = await project.api<{ data: { items: { deletedAt: string }[] } }>(
      'GET',
      `/api/data/${posts}?include_deleted=true`,
    );
    expect(deleted.body.timestamp).toBe(trashed.body.data.items[0]?.deletedAt);
    const before = Date.now();
    await write('DELETE', `${posts}/${_id}?permanent=true`);
    const gone = await arrived(receiver, ({ id }) => id === `${_id}.3`);
    expect(Date.parse(gone.body.timestamp)).toBeGreaterThan(before - 2000);
  });

  test('are delivered as updated when they existed before the webhook', async () => {
    const receiver = await newReceiver();
    const posts = await newCollection();
    const [early, other] = [await write('POST', posts), await write('POST', posts)];
    await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    await write('PATCH', `${posts}/${early}`, { title: 'b' });
    expect((await arrived(receiver, ({ id }) => id === `${early}.2`)).body.type).toBe('document.updated');
    expect(receiver.received.some(({ id }) => id.startsWith(other))).toBe(false);
  });

  test('are delivered for every collection with a feed when the webhook names no collection', async () => {
    const receiver = await newReceiver();
    await makeWebhook(project, receiver, { events: ['document.deleted'] });
    const posts = await newCollection();
    const _id = await write('POST', posts);
    await write('DELETE', `${posts}/${_id}`);
    await arrived(receiver, ({ body }) => body.data._id === _id);
    expect(new Set(receiver.received.map(({ body }) => body.type))).toEqual(new Set(['document.deleted']));
  });
});

describe('users and files', () => {
  test('users are delivered as `me` returns them when they are created, updated and deleted', async () => {
    const receiver = await newReceiver();
    const { secret } = await makeWebhook(project, receiver, {
      events: ['user.created', 'user.updated', 'user.deleted'],
    });
    const on = (method: string, path: string, body?: object) =>
      project.developer.dashboard<{ data: { _id: string } }>(method, `/api/projects/${project.id}/users${path}`, body);
    const email = `${Math.random().toString(36).slice(2)}@example.com`;
    const { _id } = (await on('POST', '', { email, password: 'a-good-password', name: 'Ann' })).body.data;
    const made = await arrived(receiver, ({ id }) => id === `${_id}.1`);
    expect(made.body).toMatchObject({ type: 'user.created', data: { user: { _id, email, emailVerified: false } } });
    expect(made.text).not.toMatch(/password|credential|planSlot/i);
    expect((await on('PATCH', `/${_id}`, { name: 'Bea' })).status).toBe(200);
    const changed = await arrived(receiver, ({ id }) => id === `${_id}.2`);
    expect(changed.body).toMatchObject({ type: 'user.updated', data: { user: { name: 'Bea' } } });
    expect((await on('DELETE', `/${_id}`)).status).toBe(200);
    const gone = await arrived(receiver, ({ body }) => body.type === 'user.deleted');
    expect(gone.body.data).toMatchObject({ user: { _id, email, name: 'Bea' } });
    for (const received of receiver.received) expect(() => verify(secret, received)).not.toThrow();
  });

  test('a user is not delivered when the sign-up fails', async () => {
    const receiver = await newReceiver();
    const webhook = await makeWebhook(project, receiver, { events: ['user.created'] });
    const on = (email: string) =>
      project.developer.dashboard('POST', `/api/projects/${project.id}/users`, { email, password: 'a-good-password' });
    const email = `${Math.random().toString(36).slice(2)}@example.com`;
    expect((await on(email)).status).toBe(201);
    expect((await on(email)).status).toBe(409);
    await eventually(async () => {
      expect((await deliveriesOf(project, webhook)).map(({ state }) => state)).toEqual(['delivered']);
    });
  });

  test('files are delivered when they are confirmed and deleted', async () => {
    const receiver = await newReceiver();
    await makeWebhook(project, receiver, { events: ['file.confirmed', 'file.deleted'] });
    const requested = (await request(project, 5, 'Übung 🪨.txt')).body;
    expect(await put(requested.signedUrl, 'hello')).toBe(200);
    const { path } = (await confirm(project, requested.filePath, 5)).body;
    const confirmed = await arrived(receiver, ({ id }) => id === `${path}.confirmed`);
    const said = { path, name: 'Übung 🪨.txt', size: 5, contentType: 'text/plain' };
    expect(confirmed.body).toMatchObject({ type: 'file.confirmed', data: said });
    expect((await remove(project, path)).status).toBe(200);
    const deleted = await arrived(receiver, ({ id }) => id === `${path}.deleted`);
    expect(deleted.body).toMatchObject({ type: 'file.deleted', data: said });
  });
});

describe('the log', () => {
  test('shows the sent webhook-id, and a collection only when the event is of a document', async () => {
    const receiver = await newReceiver();
    const posts = await newCollection();
    const events = [...onDocuments, 'user.created', 'file.confirmed'];
    const webhook = await makeWebhook(project, receiver, { events, collections: [posts] });
    await write('POST', posts);
    await uploadFile(project, 'hello');
    const body = { email: `${Math.random().toString(36).slice(2)}@example.com`, password: 'a-good-password' };
    await project.developer.dashboard('POST', `/api/projects/${project.id}/users`, body);
    const test = await onWebhooksOf(project)<Delivery>('POST', `/${webhook._id}/test`);
    expect(test.body.data).toMatchObject({ eventId: null, attempts: [] });
    expect(test.body.data).not.toHaveProperty('collection');
    await eventually(async () => {
      const log = await deliveriesOf(project, webhook);
      expect(log.map(({ type, state }) => `${type} ${state}`).sort()).toEqual(
        ['document.created', 'file.confirmed', 'user.created', 'webhook.test'].map((type) => `${type} delivered`),
      );
      for (const { type, eventId, collection, attempts } of log) {
        expect(receiver.received.find(({ id }) => id === eventId)?.body.type).toBe(type);
        expect(attempts.at(-1)?.eventId).toBe(eventId);
        expect(collection).toBe(type === 'document.created' ? posts : undefined);
      }
    });
  });
});

describe('receivers', () => {
  test('get newer events of a document in order when an earlier attempt failed and is retried after 5 s', async () => {
    const receiver = await newReceiver();
    const posts = await newCollection();
    const webhook = await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    let failures = 0;
    const [changed, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    receiver.behaviour = async ({ body }, response) => {
      const document = body.data.document as { readonly fails?: boolean };
      const fails = document.fails === true && failures++ === 0;
      // The pause begins with the response; a slow machine may take longer for the change.
      if (document.fails === true) await (fails ? changed : told).promise;
      response.writeHead(fails ? 500 : 200).end('{}');
    };
    const failing = await write('POST', posts, { fails: true });
    const first = await arrived(receiver, ({ id }) => id.startsWith(failing));
    await write('PATCH', `${posts}/${failing}`, { title: 'newer' });
    changed.resolve();
    const other = await write('POST', posts, { title: 'another' });
    await arrived(receiver, ({ id }) => id === `${other}.1`);
    told.resolve();
    const second = await arrived(receiver, (received) => received.id.startsWith(failing) && received !== first);
    expect(second.body).toMatchObject({ type: 'document.created', data: { document: { title: 'newer' } } });
    await eventually(async () => {
      const log = await deliveriesOf(project, webhook);
      const row = log.find(({ attempts }) => attempts.length === 2);
      expect(row).toMatchObject({ state: 'delivered', nextAt: null, attempts: [{ status: 500 }, { status: 200 }] });
      expect(row?.attempts.map(({ eventId }) => eventId)).toEqual([first.id, second.id]);
      expect(row).toMatchObject({ collection: posts, eventId: second.id });
    });
  });

  test('get a retry after their Retry-After, and no request goes elsewhere, when they redirect', async () => {
    const [receiver, elsewhere] = [await newReceiver(), await newReceiver()];
    const posts = await newCollection();
    const webhook = await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    receiver.behaviour = (_received, response) =>
      response.writeHead(307, { location: elsewhere.url, 'retry-after': '3600' }).end();
    await write('POST', posts);
    await eventually(async () => {
      const [row] = await deliveriesOf(project, webhook);
      expect(row).toMatchObject({
        state: 'waiting',
        attempts: [{ status: 307, error: expect.stringMatching('edirect') }],
      });
      expect(Date.parse(row?.nextAt ?? '') - Date.now()).toBeGreaterThan(3000_000);
    });
    expect(elsewhere.received).toEqual([]);
  });

  test('end the delivery and disable the webhook, except for tests, when they return 410', async () => {
    const receiver = await newReceiver();
    const posts = await newCollection();
    const webhook = await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    receiver.behaviour = (_received, response) => response.writeHead(410).end();
    await write('POST', posts);
    const on = onWebhooksOf(project);
    await eventually(async () => {
      expect((await on('GET', `/${webhook._id}`)).body.data.enabled).toBe(false);
    });
    const [row] = await deliveriesOf(project, webhook);
    expect(row).toMatchObject({ state: 'failed', nextAt: null, attempts: [{ status: 410 }] });
    receiver.behaviour = (_received, response) => response.writeHead(200).end();
    expect((await on('POST', `/${webhook._id}/test`)).status).toBe(202);
    const tested = await arrived(receiver, ({ body }) => body.type === 'webhook.test');
    expect(() => verify(webhook.secret, tested)).not.toThrow();
    await write('POST', posts);
    expect((await on('PATCH', `/${webhook._id}`, { enabled: true })).status).toBe(200);
    const later = await write('POST', posts);
    await arrived(receiver, ({ id }) => id === `${later}.1`);
  });

  test('count as reached when their response has 10 MB', async () => {
    const receiver = await newReceiver();
    const posts = await newCollection();
    const webhook = await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    receiver.behaviour = (_received, response) => response.writeHead(200).end(Buffer.alloc(10 * 1024 * 1024));
    await write('POST', posts);
    await eventually(async () => {
      expect(await deliveriesOf(project, webhook)).toMatchObject([{ state: 'delivered', attempts: [{ status: 200 }] }]);
    });
  });

  test('get signatures of both secrets when the secret was rotated', async () => {
    const receiver = await newReceiver();
    const posts = await newCollection();
    const webhook = await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    const rotated = await onWebhooksOf(project)('POST', `/${webhook._id}/rotate-secret`);
    expect(rotated.status).toBe(201);
    const { secret } = rotated.body.data;
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(webhook.secret);
    const received = await signedWith([secret, webhook.secret], receiver, posts);
    expect(() => verify(`whsec_${btoa('another secret')}`, received)).toThrow();
    expect(() => verify(secret, { ...received, text: `${received.text} ` })).toThrow();
  });

  test('get signatures of the last four replaced secrets when rotations run concurrently', async () => {
    const receiver = await newReceiver();
    const posts = await newCollection();
    const webhook = await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    const rotate = async () => (await onWebhooksOf(project)('POST', `/${webhook._id}/rotate-secret`)).body.data.secret;
    const secrets = [webhook.secret, ...(await Promise.all([rotate(), rotate(), rotate(), rotate()]))];
    await signedWith(secrets, receiver, posts);
    const later = await signedWith([...secrets.slice(1), await rotate()], receiver, posts);
    expect(() => verify(webhook.secret, later)).toThrow();
  });
});

describe('replay', () => {
  test('sends one delivery again, or all changes since a time, when it is requested', async () => {
    const receiver = await newReceiver();
    const posts = await newCollection();
    const since = new Date(Date.now() - 60_000).toISOString();
    const early = await write('POST', posts);
    const webhook = await makeWebhook(project, receiver, { events: onDocuments, collections: [posts] });
    const _id = await write('POST', posts);
    await arrived(receiver, ({ id }) => id === `${_id}.1`);
    const delivered = await eventually(async () => {
      const [row] = await deliveriesOf(project, webhook);
      if (row?.state !== 'delivered') throw new Error('Not noted yet');
      return row;
    });
    const on = onWebhooksOf(project);
    const times = () => receiver.received.filter(({ id }) => id === `${_id}.1`).length;
    for (const what of [{ deliveryId: delivered._id }, { since }]) {
      const before = times();
      expect((await on('POST', `/${webhook._id}/replay`, what)).status).toBe(202);
      await eventually(() => expect(times()).toBeGreaterThan(before));
    }
    expect((await arrived(receiver, ({ id }) => id === `${early}.1`)).body.type).toBe('document.created');
  });
});
