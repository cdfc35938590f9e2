import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from './terminal.ts';

interface ErrorBody {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly errors?: unknown;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

const pageSize = 100;
/** Longer waits end with an error, because nobody expects a command to sleep for minutes. */
const maxWaitSeconds = 30;
const maxRetries = 4;

const isRepeatable = (method: string): boolean => method === 'GET' || method === 'PUT' || method === 'DELETE';

const details = (errors: unknown): string => {
  if (!Array.isArray(errors)) return '';
  const lines = errors.map(
    (error: { field?: unknown; message?: unknown }) => `\n  ${String(error.message ?? error.field)}`,
  );
  return lines.join('');
};

const fixes: Readonly<Record<string, string>> = {
  TOKEN_INVALID: ' Run basalt login, or renew BASALT_TOKEN.',
  TOKEN_MISSING: ' Run basalt login, or set BASALT_TOKEN.',
};

/** The error of a failed response, with the reasons that it lists. */
const toError = (status: number, body: ErrorBody): CommandError => {
  const code = typeof body.code === 'string' ? body.code : undefined;
  const message = typeof body.message === 'string' ? body.message : `The service responded with status ${status}.`;
  const listed = details(body.errors);
  const shown = listed.trim() === message ? '' : listed;
  return new CommandError(`${message}${fixes[code ?? ''] ?? ''}${shown}${code ? ` (${code})` : ''}`, code);
};

const parse = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

/** Calls the dashboard API as the developer of a token. */
export class Dashboard {
  readonly url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.#token = token;
  }

  /** Returns `data` of the response. Waits and retries when the service is busy. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    for (let retries = 0; ; retries += 1) {
      const response = await this.#send(method, path, body);
      const mayRetry = response.status === 429 || (response.status === 503 && isRepeatable(method));
      const seconds = Number(response.headers.get('retry-after') ?? 2 ** retries);
      if (!mayRetry || retries === maxRetries || !(seconds <= maxWaitSeconds)) return this.#dataOf<T>(response);
      await response.body?.cancel();
      await pause(seconds * 1000);
    }
  }

  get<T>(path: string): Promise<T> {
    return this.call<T>('GET', path);
  }

  /** Returns all items of a list, page by page. */
  async list<T>(path: string): Promise<T[]> {
    const found: T[] = [];
    for (let page = 1; ; page += 1) {
      const { items, total } = await this.get<Page<T>>(`${path}?limit=${pageSize}&page=${page}`);
      found.push(...items);
      if (items.length < pageSize || found.length >= total) return found;
    }
  }

  async #send(method: string, path: string, body: unknown): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      // A redirect would take the token to another address.
      return await fetch(this.url + path, { method, headers, redirect: 'error', ...content });
    } catch (error) {
      const { cause } = error as { readonly cause?: Error };
      throw new CommandError(`${this.url} cannot be reached: ${cause?.message || (error as Error).message}`);
    }
  }

  async #dataOf<T>(response: Response): Promise<T> {
    const body = parse(await response.text());
    if (response.ok && body && 'data' in body) return body.data as T;
    if (!response.ok && body) throw toError(response.status, body);
    throw new CommandError(
      `${this.url} is not the dashboard of Basalt: it responded with status ${response.status} and no JSON. Check --url.`,
    );
  }
}
