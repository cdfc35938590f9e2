import { useEffect, useState } from 'preact/hooks';
import { t } from '../text/words.ts';

/** Whole seconds until a time (ms since 1970); 0 when it has passed. */
export const secondsUntil = (at: number): number => Math.max(0, Math.ceil((at - Date.now()) / 1000));

/** The time until a moment (ms since 1970), updated each second. Only the start is read aloud. */
export const Countdown = ({ at, text }: { readonly at: number; readonly text: (time: string) => string }) => {
  const [left, setLeft] = useState(secondsUntil(at));
  useEffect(() => {
    setLeft(secondsUntil(at));
    const timer = setInterval(() => setLeft(secondsUntil(at)), 1000);
    return () => clearInterval(timer);
  }, [at]);
  return <p aria-live="off">{text(t.time(left))}</p>;
};
