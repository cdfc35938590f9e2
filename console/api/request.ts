import { ask } from './ask.ts';
import { problemOf } from './problem.ts';
import { type Answer, callOf, type Input, type RowId } from './rows.ts';
import { renew, tokenNow } from './session.ts';

type Written = (paths: readonly string[]) => void;
const listeners: Written[] = [];

/** Reports successful writes, so that the cache can forget what they made stale. */
export const onWritten = (listener: Written): void => {
  listeners.push(listener);
};

let held: string[] | undefined;

const tellAll = (paths: readonly string[]): void => {
  if (held) held.push(...paths);
  else for (const tell of listeners) tell(paths);
};

/** The same for writes by others. */
export const tellWritten = (path: string): void => tellAll([path]);

/** Makes many calls. What they made stale is requested once, at the end. */
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

/** Routes that need a body but change nothing. */
const reading: ReadonlySet<RowId> = new Set<RowId>([
  'aggregate-project-documents',
  'sign-project-links',
  'try-effects',
]);

/** The 401 codes of an access token. Other 401 are about a password, which must not be tried twice. */
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
 * Calls a route of the dashboard API. Path, query, body and answer have the route's types. Throws a `Problem` on
 * failure. If the access token has expired, it is renewed and the call repeated once.
 */
export const request = async <Id extends RowId>(id: Id, input: Input<Id>, stop?: AbortSignal): Promise<Answer<Id>> => {
  const { method, path, query } = callOf(id, input as object);
  const sending = input as Sending;
  const token = tokenNow();
  const answer = await send(method, path + query, sending, token, stop).catch(async (error: unknown) => {
    const { code } = problemOf(error);
    // With a token, this is what the caller of `view_as` would get.
    if (!ofToken.has(code) || (code === 'TOKEN_MISSING' && token !== undefined)) throw error;
    // Another call may have renewed it in the meantime.
    const next = tokenNow() === token ? await renew() : tokenNow();
    if (next === undefined) throw error;
    return send(method, path + query, sending, next, stop);
  });
  if (method !== 'GET' && !reading.has(id)) tellAll([path]);
  return answer as Answer<Id>;
};
