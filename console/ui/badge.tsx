import type { ComponentChildren } from 'preact';

/** A state in a word; its colour says it twice. */
export const Badge = ({
  kind,
  children,
}: {
  readonly kind?: 'good' | 'warning' | 'danger';
  readonly children: ComponentChildren;
}) => <span class={kind ? `badge ${kind}` : 'badge'}>{children}</span>;
