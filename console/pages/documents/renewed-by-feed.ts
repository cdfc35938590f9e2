import { useEffect } from 'preact/hooks';
import { type Problem, problemOf } from '../../api/problem.ts';
import { request, tellWritten } from '../../api/request.ts';

interface Place {
  readonly projectId: string;
  readonly collectionName: string;
}

/** How long the service waits for a change, in seconds. */
const wait = '20';

/** While changes keep coming they are asked for less and less often, as requests of an address are limited. */
const firstPauseMs = 500;
const lastPauseMs = 30_000;

/** Ends earlier where nobody needs it any more. */
const pause = (ms: number, { signal }: AbortController): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** What does not pass by itself, such as a project that is gone; the others, and a position that is gone, do. */
const isFinal = ({ status }: Problem): boolean => [401, 403, 404].includes(status);

/**
 * Follows the feed of a collection until it is stopped, and has everything shown of it asked for again with each
 * change.
 */
const follow = async (place: Place, stopped: AbortController): Promise<void> => {
  let since: string | undefined;
  let pauseMs = firstPauseMs;
  while (!stopped.signal.aborted) {
    const query = since === undefined ? {} : { since, wait };
    try {
      const { data } = await request('list-project-changes', { ...place, query }, stopped.signal);
      if (stopped.signal.aborted) return;
      const isChanged = since === undefined || data.changes.length > 0;
      if (isChanged) tellWritten(`/api/projects/${place.projectId}/collections/${place.collectionName}`);
      pauseMs = isChanged && since !== undefined ? Math.min(pauseMs * 2, lastPauseMs) : firstPauseMs;
      since = data.next;
      if (isChanged) await pause(pauseMs, stopped);
    } catch (error) {
      const problem = problemOf(error);
      if (isFinal(problem)) return;
      if (problem.status === 400 || problem.status === 410) since = undefined;
      await pause(problem.againAt === undefined ? lastPauseMs : problem.againAt - Date.now(), stopped);
    }
  }
};

/**
 * Renews what is shown of a collection when others change it, where it has a changes feed; not while the tab is hidden.
 */
export const useFeed = ({ projectId, collectionName }: Place, isFed: boolean): void => {
  useEffect(() => {
    if (!isFed) return undefined;
    let stopped: AbortController | undefined;
    const begin = (): void => {
      stopped?.abort();
      stopped = document.hidden ? undefined : new AbortController();
      if (stopped) void follow({ projectId, collectionName }, stopped);
    };
    begin();
    document.addEventListener('visibilitychange', begin);
    return () => {
      document.removeEventListener('visibilitychange', begin);
      stopped?.abort();
    };
  }, [projectId, collectionName, isFed]);
};
