import { useEffect, useRef } from 'preact/hooks';
import { hasNetwork, offline } from '../api/ask.ts';
import { t } from '../text/words.ts';

export const OfflineLine = () => {
  const shown = offline.value;
  const line = useRef<HTMLParagraphElement>(null);
  // Elements as high as the viewport must leave room for the line.
  useEffect(() => {
    if (!line.current) return undefined;
    const { style } = document.documentElement;
    const watching = new ResizeObserver(([entry]) => {
      style.setProperty('--line-height', `${entry?.borderBoxSize[0]?.blockSize ?? 0}px`);
    });
    watching.observe(line.current);
    return () => {
      watching.disconnect();
      style.removeProperty('--line-height');
    };
  }, [shown]);
  return shown ? (
    <p ref={line} class="line" role="alert">
      {hasNetwork.value ? t.offline : t.noNetwork}
    </p>
  ) : null;
};
