import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../text/words.ts';
import { Brand } from './brand.tsx';

/** A page without the frame, for those who are not signed in. */
export const Alone = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => {
  useEffect(() => {
    document.title = `${title} · ${t.brand}`;
  }, [title]);
  return (
    <div class="alone">
      <main class="card stack">
        <Brand />
        <h1>{title}</h1>
        {children}
      </main>
    </div>
  );
};
