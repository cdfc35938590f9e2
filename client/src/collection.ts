import { callBack } from './call-back.ts';
import { below, dataBy, type Parts, type RequestOptions, type Send } from './connection.ts';
import { pause } from './repeated.ts';
import type { AnyShape, Path, Populated, RefPath, Shape, Shown, SortKey } from './schema.ts';

export type OneOrMore<T> = T | readonly T[];

/** Which documents a list returns, and in which order. */
export interface Wanted<C extends Shape, P extends Path<C['document']> = never, R extends RefPath<C> = never>
  extends RequestOptions {
  /** A condition in MongoDB's notation: `{ views: { $gte: 5 }, $or: [{ … }, { … }] }`. */
  readonly where?: C['filter'];
  /** Words to find in the searchable fields. */
  readonly search?: string;
  readonly sort?: OneOrMore<SortKey<C['document']>>;
  /** Return only these fields and `_id`. */
  readonly fields?: OneOrMore<P>;
  /** Fields of type `Ref` to replace by their documents. */
  readonly populate?: OneOrMore<R>;
  readonly include_deleted?: boolean;
  /** `false` omits the system fields except `_id`; `'rev'` adds `_rev`. */
  readonly meta?: boolean | 'rev';
  /** Documents per page: 100 by default, 1000 at most. */
  readonly limit?: number;
}

/** A page of a list: by number, or by the cursor of the page before. */
export interface PageWanted<C extends Shape, P extends Path<C['document']> = never, R extends RefPath<C> = never>
  extends Wanted<C, P, R> {
  readonly page?: number;
  readonly skip?: number;
  /** Empty for the first page, then `nextCursor`. */
  readonly cursor?: string;
}

export interface Page<D> {
  readonly items: D[];
  /** The number of matches; a lower bound with `totalCapped`. */
  readonly total: number;
  readonly totalCapped?: boolean;
  readonly limit: number;
  readonly page?: number;
  readonly cursor?: string;
  readonly nextCursor?: string | null;
  /** Fields of the condition or sort that the schema lacks. */
  readonly hints?: readonly string[];
}

/** A document with its revision, which increases with each write. Populated documents have none. */
export type Revised<D> = D & { readonly _rev?: number };

/** A document of a list: the requested fields, with references replaced. */
export type Listed<C extends Shape, P, R> = Revised<Shown<Populated<C, R>, P>>;

export interface WriteOptions extends RequestOptions {
  /** Pass the same key for each retry of a write that your program makes itself. By default each write has its own. */
  readonly idempotencyKey?: string;
}

export interface InsertOptions extends WriteOptions {
  /** The id of the new document, from `newId`. Throws `DOCUMENT_EXISTS` if it is taken. */
  readonly id?: string;
}

export interface UpsertOptions<C extends Shape> extends WriteOptions {
  /** A unique field, or all fields of an entry of `unique`. */
  readonly onConflict: OneOrMore<keyof C['document'] & string>;
}

export interface ChangeOptions<C extends Shape = AnyShape> extends WriteOptions {
  /** Write only if the document fulfils this condition. Otherwise throws `CONDITION_FAILED`, with the document as `data`. */
  readonly where?: C['filter'] | undefined;
  /** Write only if the document is at this revision, its `_rev`. Otherwise throws `REVISION_MISMATCH`. */
  readonly rev?: number | undefined;
}

/** Why a document was not written. */
export interface ManyError {
  readonly id: string;
  readonly code: string;
  readonly message: string;
}

/** The result of a write of many documents. */
export interface ManyResult {
  /** Documents that were examined. */
  readonly matched: number;
  /** Documents that were written; the others are in `errors`. */
  readonly changed: number;
  readonly errors: readonly ManyError[];
}

/** Which changes of a collection to read. */
export interface ChangesOptions<C extends Shape> extends RequestOptions {
  /** `next` of an earlier change; '0' for the start of the feed. By default only new changes are returned. */
  readonly since?: string | undefined;
  /** Changed documents that do not fulfil it appear as deleted. */
  readonly where?: C['filter'] | undefined;
  /** Seconds that each request waits for a change: 20 by default. With 0 it ends when there is nothing more. */
  readonly wait?: number | undefined;
}

/** A changed document in its latest state, and the position `next` for `since` of a later call. */
export type Change<D> = { readonly _id: string; readonly rev: number; readonly next: string } & (
  | { readonly document: D; readonly deleted?: never }
  | { readonly deleted: true; readonly document?: never }
);

/** A window of a live list. */
export type Window<C extends Shape, P extends Path<C['document']> = never, R extends RefPath<C> = never> = Pick<
  Wanted<C, P, R>,
  'sort' | 'limit' | 'fields' | 'populate'
>;

/** A proxy may reject longer addresses. */
const maxInAddress = 1500;

export class Collection<C extends Shape> {
  readonly #send: Send;
  /** The same for responses with `data`. */
  readonly #ask: Send;
  readonly #name: string;
  readonly #path: string;

  constructor(send: Send, name: string) {
    this.#send = send;
    this.#ask = dataBy(send);
    this.#name = name;
    this.#path = below('/api/data', name);
  }

  async #list<T>({
    signal,
    ...wanted
  }: RequestOptions & { readonly where?: unknown; readonly count?: true }): Promise<T> {
    const where = wanted.where === undefined ? '' : JSON.stringify(wanted.where);
    return where.length > maxInAddress
      ? this.#ask('POST', `${this.#path}/query`, { body: wanted, signal })
      : this.#ask('GET', this.#path, { query: { ...wanted, where: where || undefined }, signal });
  }

  #write<T>(
    method: string,
    path: string,
    options: ChangeOptions<C> & InsertOptions,
    parts: Parts,
    send = this.#ask,
  ): Promise<T> {
    const { idempotencyKey, rev, signal, id, where } = options;
    const headers = {
      'idempotency-key': idempotencyKey,
      // A revision of `undefined` is sent, so that the service rejects it instead of ignoring it.
      'if-match': 'rev' in options ? `"${rev}"` : undefined,
      'if-none-match': id && '*',
    };
    const query = { ...parts.query, where: where && JSON.stringify(where) };
    return send(method, this.#path + path, { ...parts, query, headers, signal });
  }

  /** The document in a response, with its revision. */
  async #document<D extends object = C['document']>(
    ask: (onRevision: (rev: number) => void) => Promise<D>,
  ): Promise<Revised<D>> {
    let revision = {};
    const document = await ask((_rev) => {
      revision = { _rev };
    });
    return { ...document, ...revision };
  }

  /** A page of documents, newest first by default. */
  list<P extends Path<C['document']> = never, R extends RefPath<C> = never>(
    wanted: PageWanted<C, P, R> = {},
  ): Promise<Page<Listed<C, P, R>>> {
    return this.#list(wanted);
  }

  /** The exact number of matches. */
  async count(wanted: Pick<Wanted<C>, 'where' | 'include_deleted' | 'signal'> = {}): Promise<number> {
    return (await this.#list<{ readonly count: number }>({ ...wanted, count: true })).count;
  }

  /**
   * All matching documents, page by page, each once, even while others insert and delete. Results of a search are
   * newest first by default, because a cursor cannot follow the order of relevance.
   */
  async *each<P extends Path<C['document']> = never, R extends RefPath<C> = never>(
    wanted: Wanted<C, P, R> = {},
  ): AsyncGenerator<Listed<C, P, R>, void, undefined> {
    let cursor: string | null | undefined = '';
    while (typeof cursor === 'string') {
      const query = { ...wanted, cursor, sort: wanted.sort?.length ? wanted.sort : '-_id' };
      const page: Page<Listed<C, P, R>> = await this.#list(query);
      yield* page.items;
      cursor = page.nextCursor;
    }
  }

  get<R extends RefPath<C> = never>(
    id: string,
    { signal, ...query }: Pick<Wanted<C, never, R>, 'populate' | 'include_deleted' | 'signal'> = {},
  ): Promise<Revised<Populated<C, R>>> {
    return this.#document((onRevision) => this.#send('GET', below(this.#path, id), { query, signal, onRevision }));
  }

  /** The inserted document. */
  insert(document: C['insert'], options: InsertOptions = {}): Promise<Revised<C['document']>> {
    return options.id === undefined
      ? this.#writeOne('', options, document, 'POST', this.#send)
      : this.#writeOne(below('', options.id), options, document, 'PUT');
  }

  /** Inserts a document, or updates the one with the same unique value, which needs no other field. */
  upsert(
    document: Partial<C['insert']>,
    { onConflict, ...options }: UpsertOptions<C>,
  ): Promise<Revised<C['document']>> {
    return this.#document((onRevision) =>
      this.#write('POST', '', options, { body: document, query: { onConflict }, onRevision }, this.#send),
    );
  }

  /** The same of 1 to 100 documents. */
  upsertMany(
    documents: readonly Partial<C['insert']>[],
    { onConflict, ...options }: UpsertOptions<C>,
  ): Promise<{ readonly ids: string[]; readonly inserted: number; readonly updated: number }> {
    return this.#write('POST', '/bulk', options, { body: documents, query: { onConflict } });
  }

  /** Inserts 1 to 100 documents, all or none. */
  insertMany(documents: readonly C['insert'][], options: WriteOptions = {}): Promise<{ readonly ids: string[] }> {
    return this.#write('POST', '/bulk', options, { body: documents });
  }

  #writeOne(
    path: string,
    options: ChangeOptions<C> & InsertOptions,
    body?: C['update'] | C['insert'],
    method = 'PATCH',
    send = this.#ask,
  ): Promise<Revised<C['document']>> {
    return this.#document((onRevision) => this.#write(method, path, options, { body, onRevision }, send));
  }

  /** Changes the given fields; dotted names reach inside, and operators compute: `{ $inc: { views: 1 } }`. Returns the document after the change. */
  update(id: string, changes: C['update'], options: ChangeOptions<C> = {}): Promise<Revised<C['document']>> {
    return this.#writeOne(below('', id), options, changes);
  }

  /** Moves a document to the trash, or deletes it permanently. */
  async delete(
    id: string,
    { permanent, ...options }: ChangeOptions<C> & { readonly permanent?: boolean } = {},
  ): Promise<{ readonly id: string }> {
    return this.#write('DELETE', below('', id), options, { query: { permanent } });
  }

  async #many(method: string, path: string, body: object, { signal }: RequestOptions): Promise<ManyResult> {
    const all = { matched: 0, changed: 0, errors: [] as ManyError[] };
    let cursor: string | undefined;
    do {
      const one = await this.#ask<ManyResult & { readonly cursor: string }>(method, this.#path + path, {
        body: { ...body, cursor },
        signal,
      });
      all.matched += one.matched;
      all.changed += one.changed;
      all.errors.push(...one.errors);
      cursor = one.cursor;
    } while (cursor);
    return all;
  }

  /** Changes every document that matches a condition, which may not be empty. Makes one request per 1000 documents. */
  updateMany(where: C['filter'], changes: C['update'], options: RequestOptions = {}): Promise<ManyResult> {
    return this.#many('PATCH', '', { where, changes }, options);
  }

  /** Moves every document that matches a condition to the trash, or deletes it permanently. */
  deleteMany(
    where: C['filter'],
    { permanent, ...options }: RequestOptions & { readonly permanent?: boolean } = {},
  ): Promise<ManyResult> {
    return this.#many('POST', '/delete', { where, permanent }, options);
  }

  /** Recovers a document from the trash. */
  recover(id: string, options: ChangeOptions<C> = {}): Promise<Revised<C['document']>> {
    return this.#writeOne(`${below('', id)}/recover`, options);
  }

  /**
   * Calls back with the documents of a condition, newest first: immediately, and after every change, until the
   * returned function is called. With options only with the first `limit` documents in their order, 100 by default.
   * Needs the collection's changes feed. Errors are reported, those of the callback too, and end it.
   */
  live<P extends Path<C['document']> = never, R extends RefPath<C> = never>(
    where: C['filter'],
    callback: (documents: Listed<C, P, R>[]) => unknown,
    window?: Window<C, P, R>,
  ): () => void {
    const ended = new AbortController();
    const { signal } = ended;
    const fail = (error: unknown): void => {
      if (signal.aborted) return;
      ended.abort();
      callBack(() => {
        throw error;
      });
    };
    const begin = async (): Promise<void> => {
      const { watch } = await import('./live.ts');
      const wanted = { ...window, where, meta: 'rev', signal };
      await watch({
        name: this.#name,
        where: JSON.parse(JSON.stringify(where)) as object,
        send: this.#send,
        list: (among) => this.each({ where: among as C['filter'], meta: 'rev', limit: 1000, signal }),
        page: window && (async () => (await this.#list<Page<object>>(wanted)).items),
        show: (documents) => callBack(() => callback(documents as Listed<C, P, R>[])),
        fail,
        pause,
        signal,
      });
    };
    begin().catch(fail);
    return () => ended.abort();
  }

  /** The changes of documents, each with its latest state, in order. Never ends by default. Needs the changes feed. */
  async *changes(options: ChangesOptions<C> = {}): AsyncGenerator<Change<C['document']>, void, undefined> {
    const { changesOf } = await import('./live.ts');
    yield* changesOf(this.#send, this.#path, options, pause) as AsyncGenerator<Change<C['document']>>;
  }

  /** The results of a pipeline. */
  aggregate<Row = { readonly [field: string]: unknown }>(
    pipeline: readonly object[],
    { signal, ...query }: Pick<Wanted<C>, 'include_deleted' | 'signal'> = {},
  ): Promise<Row[]> {
    return this.#ask('POST', `${this.#path}/aggregate`, { body: { pipeline }, query, signal });
  }
}
