import { authOf } from './auth.ts';
import { batchOf } from './batch.ts';
import { Collection } from './collection.ts';
import { connection, newId } from './connection.ts';
import { filesOf } from './files.ts';
import { mailOf } from './mail.ts';
import type { AnyShape, Shape } from './schema.ts';
import { Session, type SessionStorage } from './session.ts';

export interface Options {
  /** Where the session is kept: by default `localStorage` if there is one, otherwise memory. */
  readonly storage?: SessionStorage;
  readonly fetch?: typeof fetch;
}

/** The members of an app other than its collections. */
export interface App<S extends { [N in keyof S]: Shape }> {
  readonly auth: ReturnType<typeof authOf<S>>;
  readonly files: ReturnType<typeof filesOf>;
  readonly mail: ReturnType<typeof mailOf>;
  /** Several writes in one request, all or none, or with `{ each: true }` each on its own. */
  readonly batch: ReturnType<typeof batchOf<S>>;
  /** Creates an id for a new document: 24 hexadecimal digits that begin with the time. */
  readonly newId: () => string;
  /** A collection by name, for names that the app uses for something else. */
  readonly collection: <N extends keyof S & string>(name: N) => Collection<S[N]>;
}

/** `auth` is the accounts. An object with `then` would be treated as a promise. */
type Reserved = keyof App<Record<string, AnyShape>> | 'users' | 'then';

/** An app: a collection under each name, and the members of `App`. */
export type Basalt<S extends { [N in keyof S]: Shape }> = App<S> & {
  readonly [N in Exclude<keyof S, Reserved>]: Collection<S[N]>;
};

/**
 * An app, by the address of its API and a key: the publishable key in pages and apps, the secret key on servers.
 * Pass the types of `GET /api/types.ts`: `basalt<Schema>(url, key)`.
 */
export const basalt = <S extends { [N in keyof S]: Shape } = Record<string, AnyShape>>(
  url: string,
  key: string,
  { storage, fetch: fetching = globalThis.fetch.bind(globalThis) }: Options = {},
): Basalt<S> => {
  const base = String(url).replace(/\/+$/, '');
  const send = connection(base, key, fetching);
  const session = new Session(key, send, storage);
  const isPublishable = /^pk_/.test(key);
  const sendAs = isPublishable ? session.send : send;
  const collections = new Map<string, Collection<Shape>>();
  const collection = (name: string): Collection<Shape> => {
    const known = collections.get(name) ?? new Collection(sendAs, name);
    collections.set(name, known);
    return known;
  };
  const app = {
    auth: authOf<S>(base, key, send, session),
    files: filesOf(sendAs, fetching),
    mail: mailOf(send),
    batch: batchOf<S>(sendAs),
    newId,
    collection,
  };
  // For `@basalt/client/presence`, which not every app loads.
  Object.assign(app, { [Symbol.for('basalt')]: sendAs });
  return new Proxy(app, {
    get: (own, name) => {
      if (Object.hasOwn(own, name)) return own[name as keyof typeof app];
      return typeof name === 'symbol' || name === 'then' ? undefined : collection(name);
    },
  }) as Basalt<S>;
};
