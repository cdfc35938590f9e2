import { useEffect, useRef } from 'preact/hooks';

/** Parts of one screen, each at an address of its own; the present one is scrolled into sight. */
export const Tabs = ({
  label,
  present,
  tabs,
}: {
  readonly label: string;
  readonly present: string;
  readonly tabs: readonly (readonly [href: string, label: string])[];
}) => {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    row.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [present]);
  return (
    <nav ref={row} class="tabs" aria-label={label}>
      {tabs.map(([href, text]) => (
        <a key={href} href={href} aria-current={href === present ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
};
