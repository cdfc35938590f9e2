import { BasaltError, type Refusal } from './basalt-error.ts';
import { Failed, repeated, unanswered } from './repeated.ts';

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request and its retries. It then throws `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/** The parts of a request other than method and path. */
export interface Parts extends RequestOptions {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Whether the browser stores the cookies of the response. Only a sign-in with a provider needs that. */
  readonly credentials?: 'include';
  /** Receives the revision of the returned document. */
  readonly onRevision?: (rev: number) => void;
}

/** Sends a request and returns its body. Throws a `BasaltError`. */
export type Send = <T>(method: string, path: string, parts?: Parts) => Promise<T>;

/** The same for responses with `data`, which they return. */
export const dataBy =
  (send: Send): Send =>
  async <T>(method: string, path: string, parts?: Parts) =>
    (await send<{ readonly data: T }>(method, path, parts)).data;

const tryMs = 30_000;

/** The defined values of an object. */
const given = (values: Readonly<Record<string, unknown>>): [string, string][] =>
  Object.entries(values).filter(([, value]) => value !== undefined) as [string, string][];

/** A query string with `?`; lists are joined by commas. */
const queryOf = (query: Readonly<Record<string, unknown>>): string => {
  const text = new URLSearchParams(given(query)).toString();
  return text && `?${text}`;
};

const parsed = (text: string): Partial<Refusal> | undefined => {
  try {
    return JSON.parse(text || '{}') as Partial<Refusal>;
  } catch {
    return undefined;
  }
};

/** The path of an item, by its id. */
export const below = (path: string, id: string): string => `${path}/${encodeURIComponent(id)}`;

/** Random numbers in hex, after the given ones. Pages without HTTPS have no `randomUUID`. */
const randomHex = (count: number, ...first: readonly number[]): string =>
  [...first, ...crypto.getRandomValues(new Uint32Array(count))]
    .map((part) => (part >>> 0).toString(16).padStart(8, '0'))
    .join('');

/** An id for a document: 4 bytes of seconds since 1970 and 8 random bytes, in hex. */
export const newId = (): string => randomHex(2, Date.now() / 1000);

/** A key that identifies a write. Anyone who knows the key of a sign-up gets its session, so it has 128 random bits. */
export const newKey = (): string => randomHex(4);

/** Sends requests with one key to one address. */
export const connection =
  (base: string, key: string, fetching: typeof fetch): Send =>
  async <T>(
    method: string,
    path: string,
    { body, query = {}, headers = {}, signal, credentials, onRevision }: Parts = {},
  ) => {
    // `URL` resolves dots in a path, encoded ones too. Without an id the path would be that of the list.
    if (!/^https?:\/\/./.test(base) || /\/\.{0,2}(\/|$)/.test(path)) {
      throw new BasaltError({
        code: 'INVALID_ADDRESS',
        message: 'Give an https:// address, no empty id, no dots.',
      });
    }
    const sent = given({
      'x-api-key': key,
      'content-type': body === undefined ? undefined : 'application/json',
      ...headers,
      'idempotency-key': headers['idempotency-key'] ?? (method === 'GET' ? undefined : newKey()),
    });
    const address = new URL(base + path + queryOf(query));
    const init: RequestInit = {
      method,
      headers: new Headers(sent),
      // A redirected write would become a read and look successful.
      redirect: 'manual',
      ...(credentials && { credentials }),
      // `undefined` without a body.
      body: JSON.stringify(body),
    };
    return repeated<T>(async () => {
      let answer: Response;
      let text: string;
      try {
        const late = AbortSignal.timeout(tryMs);
        answer = await fetching(address, { ...init, signal: signal ? AbortSignal.any([signal, late]) : late });
        text = await answer.text();
      } catch (cause) {
        return unanswered(cause);
      }
      const { status } = answer;
      const said = parsed(text);
      if (answer.ok && said) {
        const [, rev] = /^"(\d+)"$/.exec(answer.headers.get('etag') ?? '') ?? [];
        if (rev) onRevision?.(Number(rev));
        return said as T;
      }
      const refusal =
        answer.type === 'opaqueredirect' || (status >= 300 && status < 400)
          ? { code: 'REDIRECTED', message: 'The address redirects: use its target.' }
          : { code: `HTTP_${status}`, message: `The service returned ${status}.`, ...said };
      return new Failed(new BasaltError({ ...refusal, status }), Number(answer.headers.get('retry-after')) || 0);
    }, signal);
  };
