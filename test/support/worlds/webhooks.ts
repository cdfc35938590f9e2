import { expect } from 'vitest';
import type { Answer } from '../clients/client.ts';
import { eventually } from '../clients/eventually.ts';
import type { TestProject } from './project.ts';
import type { Received, Receiver } from './receiver.ts';

export interface Webhook {
  readonly _id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly collections?: readonly string[];
  readonly enabled: boolean;
  readonly secret: string;
}

export interface Delivery {
  readonly _id: string;
  readonly type: string;
  readonly state: string;
  readonly collection?: string;
  readonly eventId: string | null;
  readonly attempts: readonly {
    readonly status: number | null;
    readonly ms: number;
    readonly error?: string;
    readonly eventId: string;
  }[];
  readonly nextAt: string | null;
}

/** Calls the webhook routes of a project for its owner. */
export const onWebhooksOf =
  ({ id, developer }: Pick<TestProject, 'id' | 'developer'>) =>
  <Data = Webhook>(
    method: string,
    path = '',
    body?: object,
  ): Promise<Answer<{ data: Data; code?: string; message?: string }>> =>
    developer.dashboard(method, `/api/projects/${id}/webhooks${path}`, body);

/** Makes a webhook that leads to a receiver. */
export const makeWebhook = async (
  project: Pick<TestProject, 'id' | 'developer'>,
  receiver: Receiver,
  body: object,
): Promise<Webhook> => {
  const made = await onWebhooksOf(project)('POST', '', { url: receiver.url, ...body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.data;
};

/** The log of a webhook, newest first. */
export const deliveriesOf = async (
  project: Pick<TestProject, 'id' | 'developer'>,
  { _id }: Pick<Webhook, '_id'>,
): Promise<readonly Delivery[]> => {
  const { body } = await onWebhooksOf(project)<{ items: Delivery[] }>('GET', `/${_id}/deliveries`);
  return body.data.items;
};

/** Waits until something has come in. */
export const arrived = (receiver: Receiver, matches: (received: Received) => boolean): Promise<Received> =>
  eventually(() => {
    const found = receiver.received.find(matches);
    if (!found) throw new Error(`Not among ${receiver.received.map(({ id, body }) => `${body.type} ${id}`).join()}`);
    return found;
  });
