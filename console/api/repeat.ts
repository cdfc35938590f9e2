import { useEffect } from 'preact/hooks';

/**
 * Repeats an action while it is useful and the tab is visible, and immediately when the tab becomes visible again.
 * `everyMs` is the pause between.
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
