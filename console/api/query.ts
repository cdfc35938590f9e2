import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type Problem, problemOf } from './problem.ts';
import { onAnswered, request } from './request.ts';
import { callOf, type Data, type Input, type RowId } from './rows.ts';

/** What is known of an answer: what was last there, and what went wrong since. */
export interface Known<T> {
  readonly data?: T;
  readonly problem?: Problem;
  readonly loading: boolean;
}

interface Entry {
  readonly path: string;
  readonly state: Signal<Known<unknown>>;
  readonly load: () => void;
  readers: number;
  running?: AbortController;
  again?: ReturnType<typeof setTimeout>;
}

/** By the address that is asked; what nobody reads any more stays until it is one of too many. */
const entries = new Map<string, Entry>();
const mostEntries = 200;

const defaultWaitSeconds = 3;

const forgetOldest = (): void => {
  for (const [key, entry] of entries) {
    if (entries.size <= mostEntries) return;
    if (entry.readers === 0) entries.delete(key);
  }
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
      if (entry.running === running) delete entry.running;
      if (!running.signal.aborted) state.value = next;
    };
    request(id, input, running.signal).then(
      (answer) => settle({ data: (answer as { readonly data: unknown }).data, loading: false }),
      (error: unknown) => {
        const problem = problemOf(error);
        const { data } = state.peek();
        settle({ ...(data === undefined ? {} : { data }), problem, loading: false });
        if (problem.passes && entry.readers > 0)
          entry.again = setTimeout(load, (problem.retryAfter ?? defaultWaitSeconds) * 1000);
      },
    );
  };
  const entry: Entry = { path, state, load, readers: 0 };
  return entry;
};

const read = (entry: Entry): (() => void) => {
  entry.readers += 1;
  entry.load();
  return () => {
    entry.readers -= 1;
    if (entry.readers > 0) return;
    clearTimeout(entry.again);
    entry.running?.abort();
    delete entry.running;
  };
};

/**
 * What a row that reads answers to this input: at once from what is known, and renewed behind. One request at a time
 * for the same address, whoever asks; it stops when the last reader leaves, and is made again when a write below or
 * above its path, or anywhere in its collection, has succeeded.
 */
export const useQuery = <Id extends RowId>(
  id: Id,
  input: Input<Id>,
): ReadonlySignal<Known<Data<Id>>> & { reload(): void } => {
  const { path, query } = callOf(id, input as object);
  const key = `${id} ${path}${query}`;
  const entry = useMemo(() => {
    const known = entries.get(key) ?? makeEntry(id, input, path);
    entries.delete(key);
    entries.set(key, known);
    forgetOldest();
    return known;
  }, [key]);
  useEffect(() => read(entry), [entry]);
  return Object.assign(entry.state as Signal<Known<Data<Id>>>, { reload: entry.load });
};

/** Everything of one collection belongs together: what is restored from the trash is among the documents. */
const collectionOf = (path: string): string => /^\/api\/projects\/[^/]+\/collections\/[^/]+/.exec(path)?.[0] ?? path;

const isConcerned = (path: string, written: string): boolean => {
  const changed = collectionOf(written);
  return path === changed || path.startsWith(`${changed}/`) || written.startsWith(`${path}/`);
};

onAnswered((path, written) => {
  if (!written) return;
  for (const [key, entry] of entries) {
    if (!isConcerned(entry.path, path)) continue;
    if (entry.readers > 0) {
      entry.running?.abort();
      delete entry.running;
      entry.load();
    } else entries.delete(key);
  }
});

/** Forgets all answers: somebody else may be signed in from now on. */
export const forgetAnswers = (): void => {
  for (const { running } of entries.values()) running?.abort();
  entries.clear();
};
