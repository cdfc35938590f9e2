import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { basalt } from '../../client/src/index.ts';
import { EventSocket } from '../support/clients/event-socket.ts';
import { Watching } from '../support/clients/watching.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

const subscribers = 1000;
const writes = 20;
const timed = 100;

let project: TestProject;
const sockets: EventSocket[] = [];

beforeAll(async () => {
  project = await newProject([{ name: 'posts', changes: true }]);
});
afterAll(() => {
  for (const socket of sockets) socket.close();
});

const server = () => basalt(inject('stack').baseUrl, project.secretKey).collection('posts');

test(`${subscribers} subscribers of one collection each receive each of ${writes} writes once`, async () => {
  const { url, ticket, channels } = (
    await project.api<{ data: { url: string; ticket: string; channels: { posts: string } } }>(
      'POST',
      '/api/realtime/tickets',
      { body: { collections: ['posts'] } },
    )
  ).body.data;
  for (let opened = 0; opened < subscribers; opened += 50) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => EventSocket.open(url, ticket)))));
  }
  for (const socket of sockets) {
    expect(await socket.subscribe(channels.posts)).toMatchObject({ type: 'subscribe_success' });
  }
  const ids: string[] = [];
  for (let n = 0; n < writes; n += 1) {
    const { _id } = await server().insert({ n });
    ids.push(_id);
    await Promise.all(sockets.map((socket) => socket.nudgeOf(_id, 1)));
  }
  for (const { nudges } of sockets) expect(nudges.map(({ _id }) => _id)).toEqual(ids);
  for (const socket of sockets) socket.close();
});

test('a write reaches the page of a subscriber, and the times are printed', async () => {
  const watching = new Watching(basalt(inject('stack').baseUrl, project.publishableKey).collection('posts'), {
    tag: 'timed',
  });
  try {
    await watching.until(() => true);
    const times: number[] = [];
    for (let n = 0; n < timed; n += 1) {
      const begun = performance.now();
      const arrived = watching.until(({ length }) => length === n + 1);
      await server().insert({ n, tag: 'timed' });
      await arrived;
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const at = (share: number): string => `${Math.round(times[Math.ceil(timed * share) - 1] ?? 0)} ms`;
    console.info(`from write to page, of ${timed}: median ${at(0.5)}, p95 ${at(0.95)}, longest ${at(1)}`);
    expect(watching.latest).toHaveLength(timed);
  } finally {
    watching.end();
  }
});
