import { useEffect } from 'preact/hooks';

/**
 * Does something again and again as long as it is of use, and not while the tab is hidden; at once when it is shown
 * again. `everyMs` is the pause between.
 */
export const useRepeat = (isOfUse: boolean, act: () => void, everyMs: number): void => {
  useEffect(() => {
    if (!isOfUse) return undefined;
    let timer: ReturnType<typeof setInterval> | undefined;
    const begin = () => {
      clearInterval(timer);
      timer = document.hidden ? undefined : setInterval(act, everyMs);
    };
    const onVisibility = () => {
      if (!document.hidden) act();
      begin();
    };
    begin();
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [isOfUse, act, everyMs]);
};
