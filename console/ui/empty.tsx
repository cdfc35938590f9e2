import type { ComponentChildren } from 'preact';

/** A list that has nothing in it: what would be there, and how it comes there. */
export const Empty = ({ text, children }: { readonly text: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="muted">{text}</p>
    {children}
  </div>
);
