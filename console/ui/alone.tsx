import type { ComponentChildren } from 'preact';
import { Brand } from './brand.tsx';
import { useTitle } from './use-title.ts';

/** A page without the frame, for those who are not signed in. */
export const Alone = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => {
  useTitle(title);
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
