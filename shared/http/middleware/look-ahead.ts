import { findProjectByKey, type KeyMatch } from '../../projects/find-project.ts';
import type { Begin, Event } from './adds.ts';

/** The key as sent, and the look-up of its project, already under way. */
export interface LookedAhead {
  key: string | undefined;
  keyMatch: Promise<KeyMatch | undefined>;
}

/** The key as API clients send it. */
const headerKey = ({ headers }: Event): string | undefined => headers['x-api-key'];

/** The key as a link can carry it too: a browser that is sent somewhere adds no headers. */
export const linkKey = (event: Event): string | undefined => {
  const query = new URLSearchParams(event.rawQueryString);
  return headerKey(event) ?? query.get('x-api-key') ?? query.get('key') ?? undefined;
};

/** Begins the project look-up, so that it runs side by side with the rate count; `apiKey` judges what it finds. */
export const lookAhead =
  (keyOf: (event: Event) => string | undefined = headerKey): Begin<LookedAhead> =>
  (event, context) => {
    context.key = keyOf(event);
    context.keyMatch = context.key
      ? findProjectByKey(context.key, event.pathParameters?.collectionName ?? '')
      : Promise.resolve(undefined);
    // A refusal by the rate limit leaves this promise unread; its failure must not end the process.
    context.keyMatch.catch(() => undefined);
  };
