import { createServer } from 'node:http';
import { ObjectId } from 'mongodb';
import { vi } from 'vitest';
import { handler as requeueWebhooks } from '../../../../functions/jobs/requeue-webhooks.ts';
import { permitToo } from '../../../../infra/local/permit-addresses.ts';
import { listen } from '../../../../infra/local/ports.ts';
import { createUser } from '../../../../shared/accounts/users/manage-users.ts';
import { clock } from '../../../../shared/core/clock.ts';
import { createWebhook } from '../../../../shared/webhooks/manage.ts';
import { maxTries } from '../../../../shared/webhooks/settle.ts';
import { takeWebhookMessage } from '../../../../shared/webhooks/worker.ts';
import { makeProject, newAddress } from '../operations/operation.ts';
import { control, type DueWork } from './due-work.ts';

/** What came in by the path of its receiver, and those of them that answer 500. */
const received = new Map<string, string[]>();
const failing = new Set<string>();

let address: Promise<string> | undefined;

const startReceivers = async (): Promise<string> => {
  const server = createServer((request, response) => {
    const { url = '', headers } = request.resume();
    if (!failing.has(url)) received.set(url, [...(received.get(url) ?? []), String(headers['webhook-id'])]);
    response.writeHead(failing.has(url) ? 500 : 204).end();
  }).unref();
  const host = `127.0.0.1:${await listen(server, 0)}`;
  return `http://${host}`;
};

/** What webhooks are to be told of. */
export const deliveries: readonly DueWork[] = [
  {
    name: 'a delivery',
    jobs: ['requeue-webhooks', 'deliver-webhooks'],
    hours: 2,
    // The last two waits are as long as each other.
    tries: maxTries - 2,
    givenUp: { rounds: 20, end: 'failed' },
    add: async (world) => {
      address ??= startReceivers();
      const { id, project, owned } = await makeProject(['users']);
      const url = `${await address}/${id}`;
      permitToo(new URL(url).host);
      const { _id: webhookId } = await createWebhook(project, { url, events: ['user.created'] }, undefined);
      const user = await createUser((await owned()).project, { email: newAddress(), password: 'kept-password' });
      const event = `${user._id}.1`;
      const rows = control(world, 'webhookDeliveries');
      const row = () => rows.findOne({ webhookId: new ObjectId(webhookId) });
      const came = () => received.get(`/${id}`) ?? [];
      return {
        // What is sent twice, as what came of it was not noted, has the same id.
        done: async () => {
          const ended = (await row())?.state === 'delivered';
          // The clock would look at it again and again.
          if (ended) await control(world, 'webhooks').deleteOne({ _id: new ObjectId(webhookId) });
          return ended ? new Set([...came(), event]).size : 0;
        },
        breakIt: async () => {
          failing.add(`/${id}`);
          return () => void failing.delete(`/${id}`);
        },
        end: async () => (await row())?.state as unknown,
        delay: async () => {
          const now = (await row())?.nextAt ?? new Date(clock.now());
          vi.spyOn(clock, 'now').mockReturnValue(now.getTime());
          await takeWebhookMessage(JSON.stringify({ webhookId: String(webhookId) }));
          return ((await row())?.nextAt.getTime() - now.getTime()) / 1000;
        },
      };
    },
    run: async (world) => {
      await requeueWebhooks();
      await world.drain();
    },
  },
];
