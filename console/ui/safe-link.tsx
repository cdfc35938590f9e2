import type { ComponentChildren } from 'preact';

const allowed = /^(?:https?|mailto):/i;

/** A link to an address that somebody else wrote: none where it would run something. */
export const SafeLink = ({ href, children }: { readonly href: string | null; readonly children: ComponentChildren }) =>
  href !== null && allowed.test(href) ? (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  );
