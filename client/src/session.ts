import { alone } from './alone.ts';
import { BasaltError } from './basalt-error.ts';
import { newKey, type Parts, type Send } from './connection.ts';

type Later<T> = T | Promise<T>;

/** Where a session is kept: `localStorage`, or any object with these three methods, synchronous or not. */
export interface SessionStorage {
  readonly getItem: (name: string) => Later<string | null>;
  readonly setItem: (name: string, value: string) => Later<unknown>;
  readonly removeItem: (name: string) => Later<unknown>;
}

/** The result of a sign-in. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

interface Kept extends Tokens {
  /** By the clock of this machine, not of the service. */
  readonly expiresAt: number;
  /** Identifies the next renewal, so that any page can repeat it if its response was lost. */
  readonly renewalKey: string;
}

/** A token is renewed this long before it expires. */
const marginMs = 30_000;

export const tokenMode = { 'x-refresh-token-mode': 'header' };

const inMemory = (): SessionStorage => {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => items.set(name, value),
    removeItem: (name) => items.delete(name),
  };
};

/** The page's own storage, if it can be used. */
const ofPage = (): SessionStorage => {
  try {
    const { localStorage } = globalThis;
    localStorage.getItem('');
    return localStorage;
  } catch {
    return inMemory();
  }
};

const lifetimeMs = (token: string): number => {
  const [, claims = ''] = token.split('.');
  const { iat, exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as Record<
    'iat' | 'exp',
    number
  >;
  return (exp - iat) * 1000;
};

/** The session of the signed-in user, renewed as needed. */
export class Session {
  readonly #name: string;
  readonly #send: Send;
  #storage: SessionStorage | undefined;
  #renewing: Promise<string | undefined> | undefined;

  constructor(key: string, send: Send, storage?: SessionStorage) {
    this.#name = `basalt:${key}`;
    this.#send = send;
    this.#storage = storage;
  }

  get #kept(): SessionStorage {
    this.#storage ??= ofPage();
    return this.#storage;
  }

  async load(): Promise<Kept | undefined> {
    const text = await this.#kept.getItem(this.#name);
    return text ? (JSON.parse(text) as Kept) : undefined;
  }

  async save({ accessToken, refreshToken }: Tokens): Promise<void> {
    const expiresAt = Date.now() + lifetimeMs(accessToken);
    const kept: Kept = { accessToken, refreshToken, expiresAt, renewalKey: newKey() };
    await this.#kept.setItem(this.#name, JSON.stringify(kept));
  }

  async end(): Promise<void> {
    await this.#kept.removeItem(this.#name);
  }

  /** A valid token; `undefined` if nobody is signed in. */
  async token(): Promise<string | undefined> {
    const kept = await this.load();
    return kept && kept.expiresAt - marginMs < Date.now() ? this.renew(kept.accessToken) : kept?.accessToken;
  }

  /** Replaces this token; `undefined` if the session has ended. */
  renew(old: string): Promise<string | undefined> {
    this.#renewing ??= alone(this.#kept, this.#name, () => this.#renew(old)).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(old: string): Promise<string | undefined> {
    const kept = await this.load();
    // Another tab has renewed or ended it.
    if (kept?.accessToken !== old) return kept?.accessToken;
    const isStill = async () => (await this.load())?.refreshToken === kept.refreshToken;
    const headers = { ...tokenMode, 'x-refresh-token': kept.refreshToken, 'idempotency-key': kept.renewalKey };
    try {
      const tokens = await this.#send<Tokens>('POST', '/api/userAuth/refresh-token', { headers });
      // A user who has signed out in the meantime stays signed out.
      if (await isStill()) await this.save(tokens);
    } catch (error) {
      if (!(error instanceof BasaltError) || error.status !== 401) throw error;
      if (await isStill()) await this.end();
    }
    return (await this.load())?.accessToken;
  }

  /** Sends a request for the signed-in user. */
  readonly send: Send = async <T>(method: string, path: string, parts: Parts = {}): Promise<T> => {
    const as = (token: string | undefined): Promise<T> =>
      this.#send<T>(method, path, {
        ...parts,
        headers: { ...parts.headers, authorization: token && `Bearer ${token}` },
      });
    const token = await this.token();
    try {
      return await as(token);
    } catch (error) {
      // The clock of this machine may be wrong. A request with a rejected token has changed nothing, so it can be
      // repeated.
      const isOld = token && error instanceof BasaltError && error.code === 'TOKEN_INVALID';
      const fresh = isOld ? await this.renew(token) : undefined;
      if (!fresh || fresh === token) throw error;
      return as(fresh);
    }
  };
}
