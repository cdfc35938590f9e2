import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { newId } from '../../../shared/core/ids.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { forgetWakeUps, withWebhookEvent } from '../../../shared/webhooks/events.ts';
import { checkReceiver } from '../../../shared/webhooks/manage.ts';
import { recordDeliveries } from '../../../shared/webhooks/outcomes.ts';
import { type DeliveryRecord, deliveryRecords, webhookRecords } from '../../../shared/webhooks/records.ts';
import { postEvent } from '../../../shared/webhooks/send.ts';
import { inParallel } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { scriptDns } from '../../support/faults/scripted-dns.ts';
import { newProject } from '../../support/fixtures/project.ts';
import { Receiver } from '../../support/fixtures/receiver.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { makeWebhook } from '../../support/fixtures/webhooks.ts';

listenToCommands();

afterEach(() => {
  vi.restoreAllMocks();
});

let project: Project;
let webhookId: ObjectId;

/** One that no run of the stack has, so that what waits stays. */
const heldWebhook = async (projectId: ObjectId): Promise<ObjectId> => {
  const _id = newId();
  const far = new Date(Date.now() + 3600_000);
  await webhookRecords.insertOne({
    _id,
    projectId,
    slot: 0,
    url: 'https://example.com/',
    events: ['user.created', 'user.updated', 'user.deleted'],
    enabled: true,
    sealedSecret: '',
    positions: {},
    nudges: 0,
    leasedUntil: far,
    dueAt: far,
    createdAt: far,
    updatedAt: far,
  });
  return _id;
};

beforeAll(async () => {
  const made = await newProject([{ name: 'posts', changes: true }]);
  project = { ...(await domainProject(made)), hooks: ['user'] };
  webhookId = await heldWebhook(new ObjectId(project.id));
});

const rowsOf = (thing: string) => deliveryRecords.find({ webhookId, thing });

const nameOf = (): { readonly event: 'user.created'; readonly thing: string } => ({
  event: 'user.created',
  thing: `user/${newId().toHexString()}`,
});

/** What a run has sent that read a row as it is here. */
const delivered = (row: DeliveryRecord) => ({
  entry: row,
  event: { id: 'sent', type: row.type, at: new Date(), data: {} },
  receipt: { status: 200, ms: 1 },
});

describe('a write that webhooks subscribe to', () => {
  test('stores its event before the write and makes it due when the write succeeds', async () => {
    const news = nameOf();
    let during: readonly { readonly nextAt: Date | null }[] = [];
    await withWebhookEvent(project, news, async () => {
      during = await rowsOf(news.thing);
    });
    expect(during).toHaveLength(1);
    expect(during[0]?.nextAt?.getTime()).toBeGreaterThan(Date.now() + 30_000);
    const [row] = await rowsOf(news.thing);
    expect(row?.nextAt?.getTime()).toBeLessThanOrEqual(Date.now());
    expect(row?.ahead).toEqual([]);
  });

  test('removes its event when the write is rejected, and keeps it for later when the outcome is unknown', async () => {
    const refused = nameOf();
    const no = () => Promise.reject(new AppError('USER_EXISTS', 'taken'));
    await expect(withWebhookEvent(project, refused, no)).rejects.toThrow('taken');
    expect(await rowsOf(refused.thing)).toEqual([]);
    const lost = nameOf();
    const died = () => Promise.reject(new AppError('DATABASE_UNAVAILABLE', 'no answer'));
    await expect(withWebhookEvent(project, lost, died)).rejects.toThrow('no answer');
    const [row] = await rowsOf(lost.thing);
    expect(row?.nextAt?.getTime()).toBeGreaterThan(Date.now() + 30_000);
  });

  test('has one pending entry with all marks when 50 writes change one resource concurrently', async () => {
    const news = nameOf();
    await inParallel(50, () => withWebhookEvent(project, news, async () => undefined));
    const rows = await rowsOf(news.thing);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.marks).toBeGreaterThanOrEqual(50);
  });

  test('is due after each write when two change one resource concurrently', async () => {
    const news = nameOf();
    const due = async () => {
      const rows = await rowsOf(news.thing);
      return rows.find(({ state }) => state === 'waiting');
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = withWebhookEvent(project, news, () => promise);
    await eventually(async () => expect(await due()).toBeDefined());
    await withWebhookEvent(project, news, async () => undefined);
    expect((await due())?.nextAt?.getTime()).toBeLessThanOrEqual(Date.now());
    const read = (await due()) as DeliveryRecord;
    await recordDeliveries([delivered(read)]);
    expect((await due())?.nextAt?.getTime()).toBeGreaterThan(Date.now() + 30_000);
    resolve();
    await slow;
    expect((await due())?.nextAt?.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('is due when the delivery of the previous state has ended', async () => {
    const news = nameOf();
    await withWebhookEvent(project, news, async () => undefined);
    const [read] = (await rowsOf(news.thing)) as [DeliveryRecord];
    await withWebhookEvent(project, { ...news, event: 'user.updated' }, async () => undefined);
    await recordDeliveries([delivered(read)]);
    const left = (await rowsOf(news.thing)).filter(({ state }) => state === 'waiting');
    expect(left).toMatchObject([{ sent: 'sent', attempts: [], ahead: [] }]);
    expect(left[0]?.nextAt?.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('does not delay the events of other writes when it is rejected', async () => {
    const news = nameOf();
    const { promise, reject } = Promise.withResolvers<void>();
    const refused = withWebhookEvent(project, news, () => promise);
    const refusal = expect(refused).rejects.toThrow('taken');
    await eventually(async () => expect(await rowsOf(news.thing)).toHaveLength(1));
    await withWebhookEvent(project, news, async () => undefined);
    reject(new AppError('USER_EXISTS', 'taken'));
    await refusal;
    const rows = await rowsOf(news.thing);
    expect(rows).toMatchObject([{ state: 'waiting', ahead: [] }]);
    expect(rows[0]?.nextAt?.getTime()).toBeLessThanOrEqual(Date.now());
  });

  test('keeps the delay of a receiver when its last delivery failed', async () => {
    const news = nameOf();
    await withWebhookEvent(project, news, async () => undefined);
    const nextAt = new Date(Date.now() + 3600_000);
    const attempts = [{ at: new Date(), status: 500, ms: 1, of: 'a' }];
    await deliveryRecords.updateMany({ webhookId, thing: news.thing }, { $set: { nextAt, attempts } });
    await withWebhookEvent(project, news, async () => undefined);
    expect((await rowsOf(news.thing))[0]).toMatchObject({ nextAt, marks: 4 });
  });

  test('costs no command when the project has no such webhook', async () => {
    const { hooks: _hooks, ...without } = project;
    expect(await commandsOf(() => withWebhookEvent(without, nameOf(), async () => undefined))).toEqual([]);
    expect(await commandsOf(() => withWebhookEvent({ ...project, hooks: ['file'] }, nameOf(), async () => 1))).toEqual(
      [],
    );
  });
});

describe('the address of a webhook', () => {
  test('is checked when it is registered and by every connection', async () => {
    const restore = scriptDns({
      hosts: {
        'turns.example.com': [['93.184.216.34'], ['127.0.0.1']],
        'inside.example.com': [['10.0.0.7']],
        'both.example.com': [['93.184.216.34', '192.168.0.1']],
      },
      services: {},
      texts: {},
    });
    try {
      expect(await checkReceiver('https://turns.example.com/hooks')).toBe('https://turns.example.com/hooks');
      const receipt = await postEvent('https://turns.example.com/hooks', {}, '{}');
      expect(receipt).toMatchObject({ status: null, error: expect.stringMatching('private or reserved') });
      for (const host of ['inside', 'both']) {
        await expect(checkReceiver(`https://${host}.example.com/`)).rejects.toMatchObject({ code: 'INVALID_WEBHOOK' });
      }
      await expect(checkReceiver('https://nowhere.example.com/')).rejects.toMatchObject({ code: 'INVALID_WEBHOOK' });
    } finally {
      restore();
    }
  });
});

describe('a write of documents', () => {
  test('costs no extra command when the project has no webhook, and one message otherwise', async () => {
    const own = await newProject([{ name: 'posts', changes: true }]);
    const write = async () => {
      const options = { key: own.secretKey, params: { collectionName: 'posts' }, body: { title: 'a' } };
      expect((await invoke(createDocument, options)).status).toBe(201);
    };
    // Keeps the cache valid, so that cached settings are not loaded again.
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await write();
    const without = await commandsOf(write);
    expect(without.join()).not.toContain('SendMessage');
    const receiver = await Receiver.start();
    await makeWebhook(own, receiver, { events: ['document.created'] });
    forgetProjects();
    await write();
    await receiver.close();
    forgetWakeUps();
    const withOne = await commandsOf(write);
    expect(withOne.filter((command) => !command.includes('SendMessage'))).toEqual(without);
    expect(withOne.filter((command) => command.includes('SendMessage'))).toHaveLength(1);
  });
});
