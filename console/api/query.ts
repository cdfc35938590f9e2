import { effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { offline } from './ask.ts';
import { type Problem, problemOf } from './problem.ts';
import { onWritten, request } from './request.ts';
import { callOf, type Data, type Input, type RowId } from './rows.ts';
import { developer } from './session.ts';

/** The last known answer, and what has gone wrong since. */
export interface Known<T> {
  readonly data?: T;
  readonly problem?: Problem;
  readonly loading: boolean;
}

/** A known or pending answer. */
export interface Entry {
  readonly path: string;
  readonly state: Signal<Known<unknown>>;
  readonly load: () => void;
  readers: number;
  /** When it was last answered, in ms since 1970. */
  answeredAt: number;
  running?: AbortController;
  again?: ReturnType<typeof setTimeout>;
}

/** By address. Unused entries stay until there are too many. */
const entries = new Map<string, Entry>();
const mostEntries = 200;

/** Parts of one screen load one after another on a slow line. What the first part requested is not requested again. */
const sameScreenMs = 30_000;

/** Longer waits are shown but not waited for. */
const longestWaitMs = 3_600_000;

const forgetOldest = (): void => {
  for (const [key, entry] of entries) {
    if (entries.size <= mostEntries) return;
    if (entry.readers === 0) entries.delete(key);
  }
};

const stop = (entry: Entry): void => {
  clearTimeout(entry.again);
  entry.running?.abort();
  delete entry.running;
};

const makeEntry = <Id extends RowId>(id: Id, input: Input<Id>, path: string): Entry => {
  const state = signal<Known<unknown>>({ loading: true });
  const load = (): void => {
    if (entry.running) return;
    clearTimeout(entry.again);
    const running = new AbortController();
    entry.running = running;
    state.value = { ...state.peek(), loading: true };
    const settle = (next: Known<unknown>): void => {
      if (running.signal.aborted) return;
      delete entry.running;
      entry.answeredAt = Date.now();
      state.value = next;
    };
    request(id, input, running.signal).then(
      (answer) => settle({ data: (answer as { readonly data: unknown }).data, loading: false }),
      (error: unknown) => {
        const problem = problemOf(error);
        const { data } = state.peek();
        settle({ ...(data === undefined ? {} : { data }), problem, loading: false });
        const wait = (problem.againAt ?? Number.POSITIVE_INFINITY) - Date.now();
        if (wait < longestWaitMs && entry.readers > 0) entry.again = setTimeout(load, wait);
      },
    );
  };
  const entry: Entry = { path, state, load, readers: 0, answeredAt: 0 };
  return entry;
};

/** Keeps an answer up to date until the returned function is called. */
export const read = (entry: Entry): (() => void) => {
  entry.readers += 1;
  if (entry.readers === 1 || Date.now() - entry.answeredAt > sameScreenMs) entry.load();
  return () => {
    entry.readers -= 1;
    if (entry.readers === 0) stop(entry);
  };
};

/** The entry for a route and its input. */
export const entryOf = <Id extends RowId>(id: Id, input: Input<Id>): Entry => {
  const { path, query } = callOf(id, input as object);
  const key = `${id} ${path}${query}`;
  const entry = entries.get(key) ?? makeEntry(id, input, path);
  entries.delete(key);
  entries.set(key, entry);
  forgetOldest();
  return entry;
};

/**
 * The answer of a route that reads: the known one immediately, then a fresh one. Requests for the same address are
 * shared. It stops when the last reader leaves. It is repeated after a successful write above or below its path, or
 * anywhere in its collection.
 */
export const useQuery = <Id extends RowId>(
  id: Id,
  input: Input<Id>,
): ReadonlySignal<Known<Data<Id>>> & { reload(): void } => {
  const { path, query } = callOf(id, input as object);
  const entry = useMemo(() => entryOf(id, input), [id, path, query]);
  useEffect(() => read(entry), [entry]);
  return Object.assign(entry.state as Signal<Known<Data<Id>>>, { reload: entry.load });
};

/**
 * Everything of a collection belongs together: a document restored from the trash appears in the list. The same goes
 * for a webhook: a test appears in its deliveries.
 */
const wholeOf = (path: string): string =>
  /^\/api\/projects\/[^/]+\/(collections|webhooks)\/[^/]+/.exec(path)?.[0] ?? path;

/** How far above a written path a list or record can show it: `…/members` for `…/members/{id}/…`. */
const stepsAbove = 2;

const isAbove = (path: string, written: string, steps: number): boolean =>
  written.startsWith(`${path}/`) && written.slice(path.length).split('/').length - 1 <= steps;

const isConcerned = (path: string, written: string): boolean => {
  const changed = wholeOf(written);
  if (path === changed || path.startsWith(`${changed}/`)) return true;
  // The list of collections has the number of their documents.
  return isAbove(path, written, stepsAbove) || isAbove(path, changed, 1);
};

/** Reloads the entries that are shown and forgets the others. */
const renewEach = (isStale: (entry: Entry) => boolean): void => {
  for (const [key, entry] of entries) {
    if (!isStale(entry)) continue;
    stop(entry);
    if (entry.readers > 0) entry.load();
    else entries.delete(key);
  }
};

onWritten((paths) => renewEach((entry) => paths.some((path) => isConcerned(entry.path, path))));

offline.subscribe((isOffline) => {
  if (!isOffline) renewEach(({ state }) => state.peek().problem?.status === 0);
});

/** Answers belong to one developer. Those of another developer are forgotten. */
let reader: string | undefined;
effect(() => {
  const next = developer.value?._id;
  if (next === undefined || next === reader) return;
  reader = next;
  for (const [key, entry] of entries) {
    stop(entry);
    entry.state.value = { loading: true };
    if (entry.readers > 0) entry.load();
    else entries.delete(key);
  }
});
