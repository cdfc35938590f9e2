import type { ComponentChildren } from 'preact';

/** A state in one word; its colour repeats it. */
export const Badge = ({
  kind,
  children,
}: {
  readonly kind?: 'good' | 'warning' | 'danger' | undefined;
  readonly children: ComponentChildren;
}) => <span class={kind ? `badge ${kind}` : 'badge'}>{children}</span>;
