import { isHooked, wakeWebhookWorker } from '../../webhooks/events.ts';
import type { Middleware } from '../stack.ts';
import type { WithAccess } from './collection.ts';

/**
 * Has the webhooks of the project looked at once documents were written, where some are told of them. What it costs is
 * a message a second; nothing depends on it, as the feed of the collection knows what there is to tell.
 */
export const notifyWebhooks = (): Middleware<unknown, Partial<WithAccess>> => ({
  before: () => ({}),
  after: async ({ context: { visit }, response }) => {
    const isWritten = visit?.collection.feed?.on && response && response.statusCode < 300;
    if (isWritten && isHooked(visit.project, 'document')) await wakeWebhookWorker(visit.project.id);
  },
});
