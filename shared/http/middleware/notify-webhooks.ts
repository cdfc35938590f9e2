import { isHooked, nudgeWebhooks } from '../../webhooks/events.ts';
import type { Middleware } from '../stack.ts';
import type { WithVisit } from './collection.ts';

/**
 * Has the webhooks of the project looked at once documents were written, where some are told of them. What it costs is
 * a message a second; nothing depends on it, as the feed of the collection knows what there is to tell.
 */
export const tellWebhooks = (): Middleware<unknown, Partial<WithVisit>> => ({
  before: () => ({}),
  after: async ({ context: { visit }, response }) => {
    const isWritten = visit?.collection.feed?.on && response && response.statusCode < 300;
    if (isWritten && isHooked(visit.project, 'document')) await nudgeWebhooks(visit.project.id);
  },
});
