import { findProjectByKey, type KeyMatch } from '../../collections/find-project-by-key.ts';
import type { Event, Start } from './middleware-types.ts';

/** The key as sent, and the pending look-up of its project. */
export interface WithProjectLookup {
  readonly key: string | undefined;
  readonly keyMatch: Promise<KeyMatch | undefined>;
}

/** The key as API clients send it. */
const headerKey = ({ headers }: Event): string | undefined => headers['x-api-key'];

/** The key from the header or the query: a browser that follows a link sends no custom headers. */
export const linkKey = (event: Event): string | undefined => {
  const query = new URLSearchParams(event.rawQueryString);
  return headerKey(event) ?? query.get('x-api-key') ?? query.get('key') ?? undefined;
};

/** Starts the project look-up in parallel with the rate limit; `apiKey` evaluates its result. */
export const startProjectLookup =
  (keyOf: (event: Event) => string | undefined = headerKey): Start<WithProjectLookup> =>
  (event) => {
    const key = keyOf(event);
    const keyMatch = key
      ? findProjectByKey(key, event.pathParameters?.collectionName ?? '')
      : Promise.resolve(undefined);
    // A refusal by the rate limit leaves this promise unread; its failure must not end the process.
    keyMatch.catch(() => undefined);
    return { key, keyMatch };
  };
