import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

/** An empty list: what would be here, and how to create it. */
export const Empty = ({
  text,
  icon = 'empty',
  children,
}: {
  readonly text: string;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
}) => (
  <div class="empty">
    <span class="empty-icon">
      <Icon name={icon} />
    </span>
    <p class="muted">{text}</p>
    {children}
  </div>
);
