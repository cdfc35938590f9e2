import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inParallel } from '../support/clients/client.ts';
import { eventually } from '../support/clients/eventually.ts';
import { newProject } from '../support/fixtures/project.ts';
import { type Received, Receiver, verify } from '../support/fixtures/receiver.ts';
import { deliveriesOf, makeWebhook, type Webhook } from '../support/fixtures/webhooks.ts';
import { openWebhooksUnderFire, type WebhooksUnderFire } from '../support/fixtures/webhooks-under-fire.ts';

/** `npm run test:webhooks` runs 10 000 events and 5 kills, which takes minutes. */
const { WEBHOOK_EVENTS = '2000', WEBHOOK_KILLS = '2' } = process.env;
const events = Number(WEBHOOK_EVENTS);
const kills = Number(WEBHOOK_KILLS);
const bulk = 50;
const writers = 5;
/** One of so many documents is changed later. */
const changedOf = 5;

let world: WebhooksUnderFire;

beforeAll(async () => {
  world = await openWebhooksUnderFire();
});
afterAll(() => world.stop());

/** The document id and the revision of a delivery. */
const idOf = ({ id }: Received): string => id.slice(0, 24);
const revOf = ({ id }: Received): number => Number(id.slice(25));

/** Faults of the receiver, each at the first delivery of one document in this many. */
const misbehave: Readonly<Record<number, (response: ServerResponse) => unknown>> = {
  3: (response) => response.writeHead(500).end(),
  7: (response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
  11: (response) => response.destroy(),
  13: (response) => setTimeout(() => response.writeHead(200).end('x'.repeat(100_000)), 300),
  // Hangs until the sender gives up.
  211: () => undefined,
};

test(`each of ${events} events is delivered in order and signed when ${kills} kill -9 happen and its receiver fails, hangs, redirects or is slow`, async () => {
  await world.addCollection('orders');
  const { receiver, secret } = await world.hook('orders');
  const accepted: Received[] = [];
  const misbehaved = new Set<string>();
  const unsigned: unknown[] = [];
  receiver.behaviour = (received, response) => {
    try {
      verify(secret, received);
    } catch (error) {
      unsigned.push(error);
    }
    const { n } = received.body.data.document as { readonly n: number };
    const [, first] = Object.entries(misbehave).find(([share]) => n % Number(share) === 1) ?? [];
    const isFirst = first && !misbehaved.has(idOf(received));
    misbehaved.add(idOf(received));
    // A slow response is still a response.
    if (!isFirst || n % 13 === 1) accepted.push(received);
    if (isFirst) first(response);
    else response.writeHead(204).end();
  };
  const revisions = new Map<string, number>();
  let written = 0;
  const write = async (): Promise<void> => {
    while (written < events) {
      const from = written;
      written += bulk;
      const body = Array.from({ length: bulk }, (_, n) => ({ n: from + n }));
      const made = await world.ask<{ data: { ids: string[] } }>('POST', '/api/data/orders/bulk', { body });
      expect(made.status, JSON.stringify(made.body)).toBe(201);
      for (const id of made.body.data.ids) revisions.set(id, 1);
      for (const id of made.body.data.ids.filter((_id, place) => place % changedOf === 0)) {
        const changed = await world.ask('PATCH', `/api/data/orders/${id}`, { body: { later: true } });
        expect(changed.status, JSON.stringify(changed.body)).toBe(200);
        revisions.set(id, Number(changed.headers.get('etag')?.replaceAll('"', '')));
      }
    }
  };
  const strike = async (): Promise<void> => {
    for (let kill = 1; kill <= kills; kill++) {
      // Kills happen while events are written, and some while the last ones are delivered.
      while (new Set(accepted.map(idOf)).size < (events * kill) / (kills + 1)) await pause(20);
      await pause(Math.random() * 1000);
      await world.kill();
    }
  };
  const begun = performance.now();
  await Promise.all([inParallel(writers, write), strike()]);
  const last = () => new Map(accepted.map((one) => [idOf(one), revOf(one)]));
  await eventually(() => {
    const told = last();
    expect([...revisions].filter(([id, rev]) => (told.get(id) ?? 0) < rev)).toEqual([]);
  });
  const known = new Map<string, number>();
  for (const received of receiver.received) {
    const id = idOf(received);
    expect([received.id, revOf(received) >= (known.get(id) ?? 1)]).toEqual([received.id, true]);
    known.set(id, revOf(received));
  }
  expect(unsigned).toEqual([]);
  const distinct = new Set(receiver.received.map(({ id }) => id)).size;
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(`${distinct} events, ${receiver.received.length} deliveries, ${kills} kills, ${seconds} s\n`);
}, 900_000);

const others = 4;
const each = 50;

test('receiver that hangs does not stop deliveries to other receivers of its project', async () => {
  const names = Array.from({ length: others }, (_, at) => `others${at}`);
  const project = await newProject(['hanging', ...names].map((name) => ({ name, changes: true })));
  const receivers: Receiver[] = [];
  const hook = async (name: string): Promise<readonly [Receiver, Webhook]> => {
    const receiver = await Receiver.start();
    receivers.push(receiver);
    return [receiver, await makeWebhook(project, receiver, { events: ['document.created'], collections: [name] })];
  };
  const [hanging, hung] = await hook('hanging');
  hanging.behaviour = () => undefined;
  const sentAt = new Map<unknown, number>();
  const times: number[] = [];
  for (const name of names) {
    (await hook(name))[0].behaviour = ({ body }, response) => {
      const { n } = body.data.document as { readonly n: string };
      times.push(performance.now() - (sentAt.get(n) ?? 0));
      response.writeHead(204).end();
    };
  }
  const insert = async (name: string, where: string, body: unknown): Promise<void> => {
    expect((await project.api('POST', `/api/data/${name}${where}`, { body })).status).toBe(201);
  };
  /** Returns the 95th percentile of the delivery times to the others, in milliseconds since before the write. */
  const p95 = async (round: number): Promise<number> => {
    times.length = 0;
    await inParallel(others, async (at) => {
      for (let n = 0; n < each; n++) {
        const name = `${at}/${round}/${n}`;
        sentAt.set(name, performance.now());
        await insert(`others${at}`, '', { n: name });
      }
    });
    await eventually(() => {
      for (const { received } of receivers.slice(1)) {
        expect(new Set(received.map(({ id }) => id)).size).toBe(each * round);
      }
    });
    times.sort((a, b) => a - b);
    return Math.round(times[Math.ceil(times.length * 0.95) - 1] ?? 0);
  };
  const without = await p95(1);
  await insert('hanging', '/bulk', Array(50).fill({}));
  await eventually(() => expect(hanging.received.length).toBeGreaterThan(0));
  const beside = await p95(2);
  process.stdout.write(`p95 of deliveries: ${without} ms, beside a receiver that hangs ${beside} ms\n`);
  const states = (await deliveriesOf(project, hung)).map(({ state }) => state);
  expect(states).toEqual(states.map(() => 'waiting'));
  for (const receiver of receivers) await receiver.close();
});
