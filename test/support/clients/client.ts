/** A response: status, headers, cookies, and parsed body. */
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
  /** Sent as JSON, except strings and bytes. */
  readonly body?: unknown;
}

const encode = (body: unknown): string | Uint8Array | undefined =>
  body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);

const bodyOf = (text: string, type: string | null): unknown => {
  if (text === '') return {};
  return type?.startsWith('text/plain') ? text : JSON.parse(text);
};

/** Sends a request and parses the response as JSON, or as text if it is plain text. Follows no redirects. */
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

/** `name=value` of a response's cookie. */
export const cookieOf = ({ cookies: [cookie = ''] }: Answer<unknown>): string => cookie.split(';')[0] ?? '';

/** Runs the same call `times` times concurrently. */
export const inParallel = <T>(times: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, index) => act(index)));

/** Counts responses by status: `{ 201: 1, 409: 49 }`. */
export const tally = (answers: readonly { readonly status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
