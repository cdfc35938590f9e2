import { useEffect } from 'preact/hooks';
import { t } from '../text/words.ts';

/** Has the browser show what page this is. */
export const useTitle = (title: string): void =>
  useEffect(() => {
    document.title = `${title} · ${t.brand}`;
  }, [title]);
