import type { Send } from './connection.ts';
import type { Path, Shape, Shown, SortKey } from './schema.ts';

type OneOrMore<T> = T | readonly T[];

/** Which documents a list is of, and in which order. */
export interface Wanted<C extends Shape, P extends Path<C['document']> = never> {
  /** A condition as MongoDB writes it: `{ views: { $gte: 5 }, $or: [{ … }, { … }] }`. */
  readonly where?: C['filter'];
  /** Words to be found in the searchable fields. */
  readonly search?: string;
  readonly sort?: OneOrMore<SortKey<C['document']>>;
  /** Only these fields, and `_id`. */
  readonly fields?: OneOrMore<P>;
  /** Fields of type `Ref` whose documents are to come along. */
  readonly populate?: OneOrMore<Path<C['document']>>;
  readonly include_deleted?: boolean;
  /** `false` leaves the system fields out, but for `_id`. */
  readonly meta?: boolean | 'rev';
  /** Documents a page, 100 unless given, 1000 at most. */
  readonly limit?: number;
}

/** A page of a list: by number, or by the cursor that the page before answered. */
export interface PageWanted<C extends Shape, P extends Path<C['document']> = never> extends Wanted<C, P> {
  readonly page?: number;
  readonly skip?: number;
  /** Empty for the first page, then `nextCursor`. */
  readonly cursor?: string;
}

export interface Page<D> {
  readonly items: D[];
  /** How many match; at least so many with `totalCapped`. */
  readonly total: number;
  readonly totalCapped?: boolean;
  readonly limit: number;
  readonly page?: number;
  readonly cursor?: string;
  readonly nextCursor?: string | null;
}

export interface WriteOptions {
  /** The same for every try of a write that your program repeats itself; each write has one of its own otherwise. */
  readonly idempotencyKey?: string;
}

interface Answer<T> {
  readonly data: T;
}

/** Longer ones would make an address that something on the way may refuse. */
const maxInAddress = 1500;

/** The documents of one collection. */
export class Collection<C extends Shape> {
  readonly #send: Send;
  readonly #path: string;

  constructor(send: Send, name: string) {
    this.#send = send;
    this.#path = `/api/data/${encodeURIComponent(name)}`;
  }

  async #list<T>(
    wanted: object & {
      readonly where?: unknown;
      readonly include_deleted?: boolean | undefined;
      readonly count?: true;
    },
  ): Promise<T> {
    const where = wanted.where === undefined ? '' : JSON.stringify(wanted.where);
    const { data } = await (where.length > maxInAddress
      ? this.#send<Answer<T>>('POST', `${this.#path}/query`, { body: wanted })
      : this.#send<Answer<T>>('GET', this.#path, { query: { ...wanted, where: where || undefined } }));
    return data;
  }

  async #write<T>(
    method: string,
    path: string,
    body: unknown,
    { idempotencyKey }: WriteOptions,
    query = {},
  ): Promise<T> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return this.#send<T>(method, this.#path + path, { ...(body === undefined ? {} : { body }), headers, query });
  }

  /** A page of documents, the newest first unless sorted. */
  list<P extends Path<C['document']> = never>(wanted: PageWanted<C, P> = {}): Promise<Page<Shown<C['document'], P>>> {
    return this.#list(wanted);
  }

  /** How many documents match, exactly. */
  async count({ where, include_deleted }: Pick<Wanted<C>, 'where' | 'include_deleted'> = {}): Promise<number> {
    return (await this.#list<{ readonly count: number }>({ where, include_deleted, count: true })).count;
  }

  /** Every document that matches, a page at a time, each once, while others insert and delete. */
  async *each<P extends Path<C['document']> = never>(
    wanted: Wanted<C, P> = {},
  ): AsyncGenerator<Shown<C['document'], P>, void, undefined> {
    let cursor: string | null | undefined = '';
    while (typeof cursor === 'string') {
      const page: Page<Shown<C['document'], P>> = await this.list<P>({ ...wanted, cursor });
      yield* page.items;
      cursor = page.nextCursor;
    }
  }

  get(id: string, query: Pick<Wanted<C>, 'populate' | 'include_deleted'> = {}): Promise<C['document']> {
    return this.#send('GET', `${this.#path}/${encodeURIComponent(id)}`, { query: { ...query } });
  }

  /** The document as it was written. */
  insert(document: C['insert'], options: WriteOptions = {}): Promise<C['document']> {
    return this.#write('POST', '', document, options);
  }

  /** 1 to 100 documents, all or none. */
  async insertMany(documents: readonly C['insert'][], options: WriteOptions = {}): Promise<{ readonly ids: string[] }> {
    return (await this.#write<Answer<{ readonly ids: string[] }>>('POST', '/bulk', documents, options)).data;
  }

  /** Changes the fields that are given; dotted names reach inside. The document as it is then. */
  async update(id: string, changes: C['update'], options: WriteOptions = {}): Promise<C['document']> {
    const path = `/${encodeURIComponent(id)}`;
    return (await this.#write<Answer<C['document']>>('PATCH', path, changes, options)).data;
  }

  /** Moves a document to the trash, or deletes it for good. */
  async delete(
    id: string,
    { permanent, ...options }: WriteOptions & { readonly permanent?: boolean } = {},
  ): Promise<{ readonly id: string }> {
    const path = `/${encodeURIComponent(id)}`;
    return (await this.#write<Answer<{ readonly id: string }>>('DELETE', path, undefined, options, { permanent })).data;
  }

  /** Takes a document back out of the trash. */
  async recover(id: string, options: WriteOptions = {}): Promise<C['document']> {
    const path = `/${encodeURIComponent(id)}/recover`;
    return (await this.#write<Answer<C['document']>>('PATCH', path, undefined, options)).data;
  }

  /** What the last stage of a pipeline gives. */
  async aggregate<Row = { readonly [field: string]: unknown }>(
    pipeline: readonly object[],
    query: Pick<Wanted<C>, 'include_deleted'> = {},
  ): Promise<Row[]> {
    const path = `${this.#path}/aggregate`;
    return (await this.#send<Answer<Row[]>>('POST', path, { body: { pipeline }, query: { ...query } })).data;
  }
}
