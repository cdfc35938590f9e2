import { useEffect } from 'preact/hooks';
import { type Problem, problemOf } from '../../api/problem.ts';
import { request, tellWritten } from '../../api/request.ts';

interface Place {
  readonly projectId: string;
  readonly collectionName: string;
}

/** How long the service waits for a change, in seconds. */
const wait = '20';

/** Pauses grow while changes keep coming, because of the rate limit. */
const firstPauseMs = 500;
const lastPauseMs = 30_000;

/** Ends early when it is no longer needed. */
const pause = (ms: number, { signal }: AbortController): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Errors that do not pass, such as a deleted project. Others do, an expired position included. */
const isFinal = ({ status }: Problem): boolean => [401, 403, 404].includes(status);

/** Follows the changes feed of a collection until stopped, and reloads what is shown of it after each change. */
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

/** Reloads what is shown of a collection when others change it, if it has a changes feed and the tab is visible. */
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
