import type { ComponentChildren } from 'preact';

/** An empty list: what would be here, and how to create it. */
export const Empty = ({ text, children }: { readonly text: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="muted">{text}</p>
    {children}
  </div>
);
