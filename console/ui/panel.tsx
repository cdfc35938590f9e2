import type { ComponentChildren } from 'preact';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';

/** What a row opens, beside its list. */
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
}) => (
  <section class="card stack" aria-label={title}>
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
