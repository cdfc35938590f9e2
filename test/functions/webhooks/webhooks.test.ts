import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inParallel, tally } from '../../support/clients/client.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { Receiver } from '../../support/fixtures/receiver.ts';
import { deliveriesOf, makeWebhook, onWebhooksOf } from '../../support/fixtures/webhooks.ts';

let project: TestProject;
let receiver: Receiver;

const unknown = 'f'.repeat(24);

beforeAll(async () => {
  const schema = ['email', 'password'].map((key) => ({ key, type: 'String', required: true, unique: key === 'email' }));
  project = await newProject([{ name: 'posts', changes: true }, { name: 'plain' }, { name: 'users', schema }]);
  receiver = await Receiver.start();
});

afterAll(() => receiver.close());

describe('records', () => {
  test('201 with a secret that no other response contains when a webhook is created', async () => {
    const on = onWebhooksOf(project);
    const { secret, ...made } = await makeWebhook(project, receiver, { events: ['user.created'] });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(Object.keys(made).sort()).toEqual(['_id', 'createdAt', 'enabled', 'events', 'updatedAt', 'url']);
    expect(made).toMatchObject({ url: receiver.url, events: ['user.created'], enabled: true });
    expect((await on('GET', `/${made._id}`)).body.data).toEqual(made);
    const list = await on<{ items: object[] }>('GET');
    expect(list.body.data.items).toContainEqual(made);
    const changed = await on('PATCH', `/${made._id}`, { collections: ['posts'], events: ['document.created'] });
    expect(changed.body.data).toMatchObject({
      collections: ['posts'],
      events: ['document.created'],
      url: receiver.url,
    });
    const all = await on('PATCH', `/${made._id}`, { collections: null, enabled: false });
    expect(all.body.data).not.toHaveProperty('collections');
    expect(all.body.data.enabled).toBe(false);
    const raw = JSON.stringify([list.body, changed.body, all.body]);
    expect(raw).not.toContain('whsec_');
    expect((await on('DELETE', `/${made._id}`)).status).toBe(200);
    expect((await on('GET', `/${made._id}`)).status).toBe(404);
  });

  test('no change is lost when different fields are changed concurrently', async () => {
    const on = onWebhooksOf(project);
    const { _id } = await makeWebhook(project, receiver, { events: ['user.created'] });
    for (let round = 0; round < 10; round++) {
      const url = `${receiver.url}?round=${round}`;
      const events = round % 2 === 0 ? ['user.updated'] : ['user.deleted'];
      const enabled = round % 2 === 0;
      const changes = [{ url }, { events }, { enabled }];
      const answers = await Promise.all(changes.map((change) => on('PATCH', `/${_id}`, change)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect((await on('GET', `/${_id}`)).body.data).toMatchObject({ url, events, enabled });
    }
  });

  test('403 PLAN_LIMIT for 45 of 50 concurrent creations when the plan allows 5', async () => {
    const small = await newProject([], await newDeveloper('free'));
    const on = onWebhooksOf(small);
    const answers = await inParallel(50, () => on('POST', '', { url: receiver.url, events: ['user.created'] }));
    expect(tally(answers)).toEqual({ 201: 5, 403: 45 });
    expect(answers.find(({ status }) => status === 403)?.body.code).toBe('PLAN_LIMIT');
  });

  test('each test is logged once when 50 run concurrently', async () => {
    const webhook = await makeWebhook(project, receiver, { events: ['user.created'], enabled: false });
    await inParallel(50, () => onWebhooksOf(project)('POST', `/${webhook._id}/test`));
    expect(await deliveriesOf(project, webhook)).toHaveLength(50);
  });
});

describe('errors', () => {
  const events = ['document.created'];

  test.each([
    ['http', { url: 'http://example.com/hooks' }],
    ['loopback', { url: 'https://127.0.0.1/hooks' }],
    ['loopback by another port than is permitted', { url: 'http://127.0.0.1:1/hooks' }],
    ['a private address', { url: 'https://10.1.2.3/' }],
    ['the metadata service', { url: 'https://169.254.169.254/latest' }],
    ['an address of IPv6', { url: 'https://[::ffff:10.0.0.1]/' }],
    ['an address in hexadecimal', { url: 'https://0x7f000001/' }],
    ['localhost', { url: 'https://localhost/hooks' }],
    ['an internal name', { url: 'https://metadata.internal/' }],
    ['a password', { url: 'https://ann:secret@example.com/' }],
    ['no address', { url: 'hooks' }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['an unknown event', { events: ['document.read'] }],
    ['no event', { events: [] }],
    ['an event twice', { events: ['user.created', 'user.created'] }],
    ['no collection', { collections: [] }],
  ])('400 INVALID_WEBHOOK when the address, events or collections are wrong: %s', async (_what, wrong) => {
    const answer = await onWebhooksOf(project)('POST', '', { url: receiver.url, events, ...wrong });
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_WEBHOOK']);
  });

  test('409 CHANGES_NOT_ENABLED when a collection has no feed, and 404 when it does not exist', async () => {
    const on = onWebhooksOf(project);
    const plain = await on('POST', '', { url: receiver.url, events, collections: ['plain'] });
    expect([plain.status, plain.body.code]).toEqual([409, 'CHANGES_NOT_ENABLED']);
    expect(plain.body.message).toContain('"changes": true');
    const users = await on('POST', '', { url: receiver.url, events, collections: ['users'] });
    expect([users.status, users.body.code]).toEqual([409, 'CHANGES_NOT_ENABLED']);
    expect(users.body.message).toContain('user.created, user.updated and user.deleted');
    const none = await on('POST', '', { url: receiver.url, events, collections: ['none'] });
    expect([none.status, none.body.code]).toEqual([404, 'COLLECTION_NOT_FOUND']);
  });

  test('404 when a webhook or delivery is unknown or foreign, and 400 when a replay is malformed', async () => {
    const webhook = await makeWebhook(project, receiver, { events });
    const [on, elsewhere] = [onWebhooksOf(project), onWebhooksOf(await newProject())];
    for (const ask of [on('GET', `/${unknown}`), on('GET', '/x'), elsewhere('GET', `/${webhook._id}`)]) {
      expect((await ask).body.code).toBe('WEBHOOK_NOT_FOUND');
    }
    const replay = async (body: object) => (await on('POST', `/${webhook._id}/replay`, body)).body.code;
    expect(await replay({ deliveryId: unknown })).toBe('DELIVERY_NOT_FOUND');
    expect(await replay({})).toBe('INVALID_WEBHOOK');
    expect(await replay({ deliveryId: unknown, since: new Date().toISOString() })).toBe('INVALID_WEBHOOK');
    expect(await replay({ since: 'yesterday' })).toBe('INVALID_WEBHOOK');
    expect(await replay({ since: new Date(Date.now() - 31 * 86_400_000).toISOString() })).toBe('INVALID_WEBHOOK');
    expect(await replay({ since: new Date(Date.now() + 3600_000).toISOString() })).toBe('INVALID_WEBHOOK');
    expect((await on('PATCH', `/${webhook._id}`, {})).body.code).toBe('NOTHING_TO_UPDATE');
    expect((await on('PATCH', `/${webhook._id}`, { secret: 'x' })).body.code).toBe('VALIDATION_FAILED');
  });
});
