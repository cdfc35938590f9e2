import type { Send } from './connection.ts';
import { type Change, hear } from './live-socket.ts';
import { isIn } from './live-where.ts';

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
}

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

/**
 * Keeps the documents of a condition up to date until the signal: by messages if there are any, otherwise by the
 * feed.
 */
export const watch = async ({ name, where, send, list, show, fail, pause, signal }: Watch): Promise<void> => {
  const path = `/api/data/${encodeURIComponent(name)}/changes`;
  const items = new Map<string, Item>();
  /** The latest known revision of written documents, and which of them must be checked. */
  const revisions = new Map<string, number>();
  const pending = new Map<string, number>();
  let position: string | undefined;
  let isHeard = false;
  let mustRead = true;
  let isChanged = false;
  let turns = maxTurns;
  let turnedAt = Date.now();
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
    if (isOne === undefined) pending.set(_id, rev);
    else put(_id, isOne ? ({ ...document, _id, _rev: rev } as Item) : undefined);
  };

  const begin = async (): Promise<void> => {
    const { next } = (await send<Feed>('GET', path, { signal })).data;
    const all: Item[] = [];
    for await (const item of list(where)) all.push(item as Item);
    for (const known of [items, revisions, pending]) known.clear();
    for (const item of all) items.set(item._id, item);
    position = next;
    mustRead = isChanged = true;
  };

  /** Asks which of the written documents match the condition. */
  const look = async (): Promise<void> => {
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
    const query = { since: position, limit: 1000, wait: isHeard ? 0 : 20 };
    const { changes, next, more } = (
      await send<Feed>('GET', path, { query, signal: AbortSignal.any([signal, wake.signal]) })
    ).data;
    for (const change of changes) take(change);
    position = next;
    mustRead = more || !isHeard;
  };

  const turn = async (): Promise<void> => {
    turns = Math.min(maxTurns, turns + (Date.now() - turnedAt) / turnMs);
    turnedAt = Date.now();
    if (turns < 1) await pause(turnMs, signal);
    turns -= 1;
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
      try {
        if (!(await hear(send, name, { onConnected, onChange }, end))) return;
      } catch {
        // The feed reports the reason if the failure is permanent.
      }
      isHeard = false;
      mustRead = true;
      wake.abort();
      if (!signal.aborted) await pause(pauseMs(failures), signal);
    }
  };

  const follow = async (): Promise<void> => {
    for (let failures = 0; !signal.aborted; ) {
      wake = new AbortController();
      try {
        await step();
        failures = 0;
      } catch (error) {
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
        show([...items.values()].sort((a, b) => (a._id < b._id ? 1 : -1)));
      }
    }
  };

  await Promise.all([follow(), listenOn()]);
};
