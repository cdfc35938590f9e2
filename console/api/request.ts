import { ask } from './ask.ts';
import { problemOf } from './problem.ts';
import { type Answer, callOf, type Input, type RowId } from './rows.ts';
import { renew, tokenNow } from './session.ts';

type Written = (paths: readonly string[]) => void;
const listeners: Written[] = [];

/** Tells of writes that succeeded, so that the cache can forget what they made stale. */
export const onWritten = (listener: Written): void => {
  listeners.push(listener);
};

let held: string[] | undefined;

const tellAll = (paths: readonly string[]): void => {
  if (held) held.push(...paths);
  else for (const tell of listeners) tell(paths);
};

/** The same of what others wrote. */
export const tellWritten = (path: string): void => tellAll([path]);

/** Makes many calls; what they made stale is asked for again once, at the end. */
export const inOneGo = async (work: () => Promise<void>): Promise<void> => {
  const paths: string[] = [];
  held = paths;
  try {
    await work();
  } finally {
    held = undefined;
    tellAll(paths);
  }
};

/** Rows that ask by a body and change nothing. */
const reading: ReadonlySet<RowId> = new Set<RowId>(['sign-project-links']);

/** Refusals of an access token; the other 401 are about a password, which is not to be tried twice. */
const ofToken: ReadonlySet<string> = new Set(['TOKEN_INVALID', 'TOKEN_MISSING']);

interface Sending {
  readonly body?: unknown;
  readonly ifMatch?: string | undefined;
}

const send = (
  method: string,
  url: string,
  { body, ifMatch }: Sending,
  token: string | undefined,
  stop: AbortSignal | undefined,
) =>
  ask(url, {
    method,
    headers: {
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(stop ? { signal: stop } : {}),
  });

/**
 * Calls a row of the dashboard API; path, query, body and answer have the row's types. What is no success →
 * `Problem`. An access token that has expired is renewed, and the call made again, once.
 */
export const request = async <Id extends RowId>(id: Id, input: Input<Id>, stop?: AbortSignal): Promise<Answer<Id>> => {
  const { method, path, query } = callOf(id, input as object);
  const sending = input as Sending;
  const token = tokenNow();
  const answer = await send(method, path + query, sending, token, stop).catch(async (error: unknown) => {
    if (!ofToken.has(problemOf(error).code)) throw error;
    // Another call may have had it renewed while this one was on its way.
    const next = tokenNow() === token ? await renew() : tokenNow();
    if (next === undefined) throw error;
    return send(method, path + query, sending, next, stop);
  });
  if (method !== 'GET' && !reading.has(id)) tellAll([path]);
  return answer as Answer<Id>;
};
