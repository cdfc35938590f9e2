import { findProjectByKey, type KeyMatch } from '../../projects/find-project.ts';
import type { Adds } from './adds.ts';

/** The key as sent, and the look-up of its project, already under way. */
export interface LookedAhead {
  key: string | undefined;
  keyMatch: Promise<KeyMatch | undefined>;
}

/** Begins the project look-up, so that it runs side by side with the rate count; `apiKey` judges what it finds. */
export const lookAhead = (): Adds<LookedAhead> => ({
  before: ({ event, context }) => {
    context.key = event.headers['x-api-key'];
    context.keyMatch = context.key
      ? findProjectByKey(context.key, event.pathParameters?.collectionName ?? '')
      : Promise.resolve(undefined);
    // A refusal by the rate limit leaves this promise unread; its failure must not end the process.
    context.keyMatch.catch(() => undefined);
  },
});
