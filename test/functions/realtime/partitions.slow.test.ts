import { expect, test } from 'vitest';
import { inParallel } from '../../support/clients/client.ts';
import { EventSocket } from '../../support/clients/event-socket.ts';
import { newProject } from '../../support/fixtures/project.ts';

Object.assign(process.env, { RATE_LIMIT: '0' });

const workspaces = 500;
const apps = 20;
const perTicket = 20;
/** A connection has at most 100 subscriptions, so a socket represents one app in each of 100 workspaces. */
const perSocket = 100;

interface Ticket {
  readonly url: string;
  readonly ticket: string;
  readonly partitions: readonly { readonly partition: string; readonly channel: string }[];
}

test(`with ${workspaces} workspaces of ${apps} open apps, a write reaches the ${apps} of its workspace and no other`, async () => {
  const schema = ['workspace', 'title'].map((key) => ({ key, type: 'String' }));
  const project = await newProject([{ name: 'cards', changes: true, schema, partition: 'workspace' }]);
  const tickets = await inParallel(workspaces / perTicket, async (at) => {
    const collections = Array.from({ length: perTicket }, (_, n) => ({
      collection: 'cards',
      partition: `w${at * perTicket + n}`,
    }));
    const options = { key: project.publishableKey, body: { collections } };
    const answer = await project.api<{ data: Ticket }>('POST', '/api/realtime/tickets', options);
    expect(answer.status).toBe(201);
    return answer.body.data;
  });
  const groups = workspaces / perSocket;
  const open = (at: number): Promise<EventSocket> => {
    const { url = '', ticket = '' } = tickets[at % tickets.length] ?? {};
    return EventSocket.open(url, ticket);
  };
  const sockets = await inParallel(apps * groups, open);
  try {
    await inParallel(sockets.length, async (at) => {
      const group = at % groups;
      const ofGroup = tickets.slice((group * perSocket) / perTicket, ((group + 1) * perSocket) / perTicket);
      for (const { ticket, partitions } of ofGroup) {
        for (const { partition, channel } of partitions) {
          const answer = await sockets[at]?.subscribe(channel, partition, ticket);
          expect(answer?.type).toBe('subscribe_success');
        }
      }
    });
    // The last write of each group of workspaces is heard after all others.
    const ends = Array.from({ length: groups }, (_, group) => `w${group * perSocket}`);
    const written = ['w7', 'w142', 'w7', 'w499', ...ends];
    for (const workspace of written) {
      const body = { workspace, title: 'a' };
      expect(await project.api('POST', '/api/data/cards', { body })).toMatchObject({ status: 201 });
    }
    for (const [at, socket] of sockets.entries()) {
      const group = at % groups;
      await socket.next(({ type, id }) => type === 'data' && id === ends[group]);
      const heard = socket.received.flatMap(({ type, id }) => (type === 'data' ? [id] : []));
      const isOfGroup = (workspace: string) => Math.floor(Number(workspace.slice(1)) / perSocket) === group;
      expect(heard).toEqual(written.filter(isOfGroup));
    }
  } finally {
    for (const socket of sockets) socket.close();
  }
});
