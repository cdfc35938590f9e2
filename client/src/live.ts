import type { ChangesOptions } from './collection.ts';
import type { Send } from './connection.ts';
import { type Change, hear } from './live-socket.ts';
import { isIn } from './live-where.ts';
import type { Shape } from './schema.ts';

interface Item {
  readonly _id: string;
  readonly _rev: number;
}

/** A live query and the functions that it needs. */
export interface Watch {
  readonly name: string;
  readonly where: object;
  readonly send: Send;
  readonly list: (where: object) => AsyncIterable<object>;
  /** The documents of a window in its order. Without it, all documents of the condition are shown. */
  readonly page: (() => Promise<object[]>) | undefined;
  readonly show: (documents: object[]) => void;
  readonly fail: (error: unknown) => void;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

interface Feed {
  readonly data: { readonly changes: Change[]; readonly next: string; readonly more: boolean };
}

interface Failure {
  readonly status?: number;
  readonly code?: string;
  readonly errors?: readonly { readonly field: string }[];
}

/**
 * Makes requests of a collection, with the partition in `where` from when the service asks for it: its error names the
 * field.
 */
const partitioned = (where: object | undefined) => {
  let partition: string | undefined;
  return async <T>(request: (partition: string | undefined) => Promise<T>): Promise<T> => {
    const tried = partition;
    try {
      return await request(tried);
    } catch (error) {
      const { code, errors: [{ field = '' } = {}] = [] } = error as Failure;
      const value: unknown = Object(where)[field];
      if (code !== 'INVALID_QUERY' || tried !== undefined || typeof value !== 'string') throw error;
      partition = value;
      return request(value);
    }
  };
};

/** A message may be lost, so the changes are also read at this interval. */
const readEveryMs = 60_000;
/** The pause after this many failed tries. */
const pauseMs = (failures: number): number => Math.min(readEveryMs, 1000 * 2 ** failures) * (0.5 + Math.random() / 2);

const maxIds = 500;

/** Revisions of at most this many written documents are kept; then the older half is dropped. */
const maxRevisions = 10_000;

/** The number of requests without a pause, and the rate of further ones, because of the service's rate limit. */
const maxTurns = 30;
const turnMs = 15_000;

/** A window waits this long for its connection, so that it is read one time. */
const connectMs = 1000;

type Pause = Watch['pause'];

/** Waits until a further request is allowed. */
const newTurns = (pause: Pause, signal: AbortSignal): (() => Promise<void>) => {
  let turns = maxTurns;
  let turnedAt = Date.now();
  return async () => {
    turns = Math.min(maxTurns, turns + (Date.now() - turnedAt) / turnMs);
    turnedAt = Date.now();
    if (turns < 1) await pause(turnMs, signal);
    turns -= 1;
  };
};

/**
 * The changes of a collection after a position, without end, or with `wait: 0` as many as there are. `next` of a change
 * leads to all that come after it.
 */
export async function* changesOf(
  send: Send,
  path: string,
  { since, where, wait = 20, signal = new AbortController().signal }: ChangesOptions<Shape>,
  pause: Pause,
): AsyncGenerator<Change & { readonly next: string }> {
  const turn = newTurns(pause, signal);
  const inPartition = partitioned(where);
  let position = since;
  let hasMore: boolean;
  do {
    await turn();
    const query = { since: position, where: where && JSON.stringify(where), wait, limit: 1000 };
    const { changes, next, more } = await inPartition(
      async (partition) =>
        (await send<Feed>('GET', `${path}/changes`, { query: { ...query, partition }, signal })).data,
    );
    for (const change of changes) yield { ...change, next: change === changes.at(-1) ? next : (position ?? next) };
    position = next;
    hasMore = more;
  } while (hasMore || wait);
}

/**
 * Keeps the documents of a condition up to date until the signal: by messages if there are any, otherwise by the
 * feed.
 */
export const watch = async ({ name, where, send, list, page, show, fail, pause, signal }: Watch): Promise<void> => {
  const path = `/api/data/${encodeURIComponent(name)}/changes`;
  const turn = newTurns(pause, signal);
  const inPartition = partitioned(where);
  const items = new Map<string, Item>();
  /** The latest known revision of written documents, and which of them must be checked. */
  const revisions = new Map<string, number>();
  const pending = new Map<string, number>();
  let position: string | undefined;
  let isHeard = false;
  let mustRead = true;
  let isChanged = false;
  /** The page that was shown last. */
  let shown = '';
  /** Ends the current wait. */
  let wake = new AbortController();
  /** Ends the connection, so that another one can start. */
  let connection = new AbortController();

  const put = (_id: string, item?: Item): void => {
    if (item) items.set(_id, item);
    if (item || items.delete(_id)) isChanged = true;
  };

  const take = ({ _id, rev, deleted, document }: Change): void => {
    if (rev <= (revisions.get(_id) ?? items.get(_id)?._rev ?? -1)) return;
    revisions.delete(_id);
    revisions.set(_id, rev);
    if (revisions.size > maxRevisions) {
      for (const old of [...revisions.keys()].slice(0, maxRevisions / 2)) revisions.delete(old);
    }
    pending.delete(_id);
    const isOne = deleted ? false : document && isIn(where, document);
    if (isOne === undefined || (page && (isOne || items.has(_id)))) pending.set(_id, rev);
    else if (!page) put(_id, isOne ? ({ ...document, _id, _rev: rev } as Item) : undefined);
  };

  /** Reads the page of a window. */
  const load = async (read: () => Promise<object[]>): Promise<void> => {
    mustRead = !isHeard;
    pending.clear();
    const all = (await read()) as Item[];
    items.clear();
    for (const item of all) items.set(item._id, item);
    const text = JSON.stringify(all);
    isChanged = text !== shown;
    shown = text;
  };

  const feed = (query: object, until: AbortSignal): Promise<Feed['data']> =>
    inPartition(
      async (partition) => (await send<Feed>('GET', path, { query: { ...query, partition }, signal: until })).data,
    );

  const begin = async (): Promise<void> => {
    if (page && isHeard) {
      position = '';
      return load(page);
    }
    const { next } = await feed({}, signal);
    if (page) {
      position = next;
      return load(page);
    }
    const all: Item[] = [];
    for await (const item of list(where)) all.push(item as Item);
    for (const known of [items, revisions, pending]) known.clear();
    for (const item of all) items.set(item._id, item);
    position = next;
    mustRead = isChanged = true;
  };

  /** Asks which of the written documents match the condition. */
  const look = async (): Promise<void> => {
    if (page) return load(page);
    const asked = [...pending].slice(0, maxIds);
    const _id = { $in: asked.map(([id]) => id) };
    const found = new Map<string, Item>();
    const among = '_id' in where ? { $and: [where, { _id }] } : { ...where, _id };
    for await (const item of list(among)) found.set((item as Item)._id, item as Item);
    for (const [id, rev] of asked) {
      const known = revisions.get(id) ?? rev;
      const item = found.get(id);
      if (known === rev) pending.delete(id);
      if (item ? item._rev >= known : known === rev) put(id, item);
    }
  };

  const read = async (): Promise<void> => {
    if (page && isHeard) return load(page);
    const query = { since: position, limit: 1000, wait: isHeard ? 0 : 20 };
    const { changes, next, more } = await feed(query, AbortSignal.any([signal, wake.signal]));
    for (const change of changes) take(change);
    position = next;
    mustRead = more || !isHeard;
  };

  const step = async (): Promise<void> => {
    if (position !== undefined && pending.size === 0 && !mustRead) {
      await pause(readEveryMs, AbortSignal.any([signal, wake.signal]));
      mustRead ||= !wake.signal.aborted;
    } else {
      await turn();
      await (position === undefined ? begin() : pending.size > 0 ? look() : read());
    }
  };

  const listenOn = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; failures += 1) {
      connection = new AbortController();
      const onConnected = (): void => {
        failures = 0;
        isHeard = mustRead = true;
        wake.abort();
      };
      const onChange = (change: Change): void => {
        take(change);
        wake.abort();
      };
      const end = AbortSignal.any([signal, connection.signal]);
      let isOver = false;
      try {
        isOver = !(await inPartition((partition) => hear(send, name, partition, { onConnected, onChange }, end)));
      } catch {
        // The feed reports the reason if the failure is permanent.
      }
      // A window read while connected has no position in the feed.
      if (page && isHeard) position = undefined;
      isHeard = false;
      mustRead = true;
      wake.abort();
      if (isOver) return;
      if (!signal.aborted) await pause(pauseMs(failures), signal);
    }
  };

  const follow = async (): Promise<void> => {
    if (page) await pause(connectMs, AbortSignal.any([signal, wake.signal]));
    for (let failures = 0; !signal.aborted; ) {
      wake = new AbortController();
      try {
        await step();
        failures = 0;
      } catch (error) {
        mustRead = true;
        const { status = 0, code } = error as Failure;
        if (code === 'POSITION_GONE' || code === 'INVALID_POSITION') {
          // Another user may have signed in.
          position = undefined;
          connection.abort();
        } else if (signal.aborted) return;
        else if (status >= 400 && status < 500 && status !== 429) return fail(error);
        else if (code !== 'ABORTED') {
          await pause(pauseMs(failures), signal);
          failures += 1;
        }
      }
      if (isChanged && !signal.aborted) {
        isChanged = false;
        const all = [...items.values()];
        show(page ? all : all.sort((a, b) => (a._id < b._id ? 1 : -1)));
      }
    }
  };

  await Promise.all([follow(), listenOn()]);
};
