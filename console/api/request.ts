import { signal } from '@preact/signals';
import { Problem } from './problem.ts';
import { type Answer, callOf, type Input, type RowId } from './rows.ts';
import { renew, tokenNow } from './session.ts';

/** True while the service does not answer; the page says so in a line of its own. */
export const offline = signal(false);

type Sent = (path: string, written: boolean) => void;
const listeners: Sent[] = [];

/** Tells of each call that succeeded, so that the cache can forget what a write made stale. */
export const onAnswered = (listener: Sent): void => {
  listeners.push(listener);
};

const send = async (method: string, url: string, body: unknown, stop: AbortSignal | undefined): Promise<Response> => {
  const token = tokenNow();
  try {
    const response = await fetch(url, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(stop ? { signal: stop } : {}),
    });
    offline.value = false;
    return response;
  } catch (error) {
    if (stop?.aborted) throw error;
    offline.value = true;
    throw new Problem(0, {});
  }
};

const bodyOf = async (response: Response): Promise<Record<string, unknown>> => {
  try {
    return (await response.json()) as Record<string, unknown>;
  } catch {
    return {};
  }
};

/**
 * Calls a row of the dashboard API; path, query, body and answer have the row's types. What is no success →
 * `Problem`. An access token that has expired is renewed, and the call made again, once.
 */
export const request = async <Id extends RowId>(id: Id, input: Input<Id>, stop?: AbortSignal): Promise<Answer<Id>> => {
  const { method, path, query } = callOf(id, input as object);
  const { body } = input as { readonly body?: unknown };
  let response = await send(method, path + query, body, stop);
  if (response.status === 401 && !path.startsWith('/api/auth/log') && (await renew()) !== undefined) {
    response = await send(method, path + query, body, stop);
  }
  const answer = await bodyOf(response);
  if (!response.ok)
    throw new Problem(response.status, answer, Number(response.headers.get('retry-after')) || undefined);
  for (const tell of listeners) tell(path, method !== 'GET');
  return answer as Answer<Id>;
};
