import { BasaltError, type Refusal } from './basalt-error.ts';
import { Failed, repeated, unanswered } from './repeated.ts';

/** What any request may be given besides what it asks for. */
export interface RequestOptions {
  /** Gives the request up, its repeats too: it throws `ABORTED`. */
  readonly signal?: AbortSignal | undefined;
}

/** What a request has besides its method and path. */
export interface Parts extends RequestOptions {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Whether the browser keeps the cookies of the answer, which none but a sign-in by a provider needs. */
  readonly credentials?: 'include';
  /** Told the revision of the document that is answered. */
  readonly onRevision?: (rev: number) => void;
}

/** Sends a request and returns its body; throws a `BasaltError`. */
export type Send = <T>(method: string, path: string, parts?: Parts) => Promise<T>;

/** The same for requests whose answer stands in `data`, which they return. */
export const dataBy =
  (send: Send): Send =>
  async <T>(method: string, path: string, parts?: Parts) =>
    (await send<{ readonly data: T }>(method, path, parts)).data;

const tryMs = 30_000;

/** What of an object was given; the texts of other values are made by what takes them. */
const given = (values: Readonly<Record<string, unknown>>): [string, string][] =>
  Object.entries(values).filter(([, value]) => value !== undefined) as [string, string][];

/** A query string with its `?`; lists with commas. */
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

/** The path of one thing, by its id. */
export const below = (path: string, id: string): string => `${path}/${encodeURIComponent(id)}`;

/** So many random numbers in hex, after others. Pages without HTTPS have no `randomUUID`. */
const randomHex = (count: number, ...first: readonly number[]): string =>
  [...first, ...crypto.getRandomValues(new Uint32Array(count))]
    .map((part) => (part >>> 0).toString(16).padStart(8, '0'))
    .join('');

/** An id for a document: 4 bytes of seconds since 1970 and 8 random ones in hex. */
export const newId = (): string => randomHex(2, Date.now() / 1000);

/** A key that tells a write from others. Whoever knows that of a sign-up gets its session, so it is 128 random bits. */
export const newKey = (): string => randomHex(4);

/** The requests of one key to one address. */
export const connection =
  (base: string, key: string, fetching: typeof fetch): Send =>
  async <T>(
    method: string,
    path: string,
    { body, query = {}, headers = {}, signal, credentials, onRevision }: Parts = {},
  ) => {
    // `URL` takes dots for steps of the path, encoded ones too; and without an id the path is that of the list.
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
      // A write that was sent on would be a read there, and taken for done.
      redirect: 'manual',
      ...(credentials && { credentials }),
      // Nothing, where there is no body.
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
          : { code: `HTTP_${status}`, message: `The service answered ${status}.`, ...said };
      return new Failed(new BasaltError({ ...refusal, status }), Number(answer.headers.get('retry-after')) || 0);
    }, signal);
  };
