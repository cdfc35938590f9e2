/** An answer of the service: status, headers, cookies as set, parsed body. */
export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly cookies: readonly string[];
  readonly body: Body;
}

export interface RequestOptions {
  readonly key?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string or bytes are sent as they are. */
  readonly body?: unknown;
}

const encode = (body: unknown): string | Uint8Array | undefined =>
  body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);

const bodyOf = (text: string, type: string | null): unknown => {
  if (text === '') return {};
  return type?.startsWith('text/plain') ? text : JSON.parse(text);
};

/**
 * Sends one request and reads the answer as JSON, or as the plain text that it says it is, whatever its status; goes
 * after no redirect.
 */
export const call = async <Body = Record<string, unknown>>(
  base: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer<Body>> => {
  const headers = new Headers(options.headers);
  if (options.key) headers.set('x-api-key', options.key);
  if (options.token) headers.set('authorization', `Bearer ${options.token}`);
  const body = encode(options.body);
  if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
  const response = await fetch(base + path, {
    method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    cookies: response.headers.getSetCookie(),
    body: bodyOf(text, response.headers.get('content-type')) as Body,
  };
};

/** `name=value` of the cookie that an answer sets. */
export const cookieOf = ({ cookies: [cookie = ''] }: Answer<unknown>): string => cookie.split(';')[0] ?? '';

/** Calls the same thing `times` times at once; a race has to be run by many to be one. */
export const inParallel = <T>(times: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, index) => act(index)));

/** How many answers had which status: `{ 201: 1, 409: 49 }`. */
export const tally = (answers: readonly { readonly status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
