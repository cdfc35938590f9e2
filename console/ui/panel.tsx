import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import { useKeptFocus } from './focus.ts';
import { type Shortcuts, useShortcuts } from './shortcuts.ts';

/** The open item beside its list. */
export const Panel = ({
  title,
  head,
  onClose,
  children,
}: {
  readonly title: string;
  readonly head?: ComponentChildren;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) => {
  const panel = useRef<HTMLElement>(null);
  useKeptFocus(panel);
  const shortcuts = useMemo<Shortcuts>(() => ({ close: onClose }), [onClose]);
  useShortcuts(shortcuts);
  return (
    <section ref={panel} class="card stack" aria-label={title} tabIndex={-1}>
      <div class="panel-head">
        <h2>{title}</h2>
        {head}
        <Button kind="plain" aria-label={t.acts.close} onClick={onClose}>
          ✕
        </Button>
      </div>
      {children}
    </section>
  );
};
