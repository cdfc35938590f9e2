import { computed, effect, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type Entry, entryOf, type Known, read } from './query.ts';
import { callOf, type Input, type Item, type PageOf, type ReadInput, type RowId } from './rows.ts';

/** The maximum page size of the dashboard API. */
const pageSize = 100;

/** The items of a list, and how many it has. */
interface Every<T> extends Known<readonly T[]> {
  readonly total?: number;
  readonly reload: () => void;
}

/** The pages of a list: the first one, and the others once the first says how many there are. */
const pagesOf = <Id extends RowId>(id: Id, input: ReadInput<Id>, maxPages: number) => {
  const entryAt = (page: number): Entry => {
    const query = { ...input.query, limit: pageSize, ...(page > 1 && { page }) };
    return entryOf(id, { ...input, query } as Input<Id>);
  };
  const first = entryAt(1);
  const pages = signal<readonly Entry[]>([first]);
  const dataOf = (entry: Entry | undefined) => entry?.state.value.data as PageOf<Item<Id>> | undefined;
  const known = computed((): Omit<Every<Item<Id>>, 'reload'> => {
    const answers = pages.value.map(dataOf).filter((answer) => answer !== undefined);
    const states = pages.value.map(({ state }) => state.value);
    const problem = states.find((state) => state.problem)?.problem;
    const loading = states.some((state) => state.loading);
    const total = answers[0]?.total;
    return {
      ...(answers.length > 0 && { data: answers.flatMap(({ items }) => items) }),
      ...(total !== undefined && { total }),
      ...(problem && { problem }),
      loading,
    };
  });
  /** Reads each page while it exists, until the returned function is called. */
  const follow = (): (() => void) => {
    const leave = [read(first)];
    const end = effect(() => {
      const count = Math.max(1, Math.min(maxPages, Math.ceil((dataOf(first)?.total ?? 0) / pageSize)));
      const more = Array.from({ length: count }, (_, at) => pages.peek()[at] ?? entryAt(at + 1));
      for (const stop of leave.splice(count)) stop();
      for (const entry of more.slice(leave.length)) leave.push(read(entry));
      if (count !== pages.peek().length) pages.value = more;
    });
    return () => {
      end();
      for (const stop of leave) stop();
    };
  };
  const reload = (): void => {
    for (const { load } of pages.peek()) load();
  };
  return { known, follow, reload };
};

/** Every item of a list that has arrived so far, or those of its first pages. Each page is read as `useQuery` does. */
export const useEvery = <Id extends RowId>(
  id: Id,
  input: ReadInput<Id>,
  maxPages = Number.POSITIVE_INFINITY,
): Every<Item<Id>> => {
  const { path, query } = callOf(id, input);
  const { known, follow, reload } = useMemo(() => pagesOf(id, input, maxPages), [id, path, query, maxPages]);
  useEffect(follow, [follow]);
  return { ...known.value, reload };
};
