/** Parts of one screen, each at an address of its own. */
export const Tabs = ({
  label,
  present,
  tabs,
}: {
  readonly label: string;
  readonly present: string;
  readonly tabs: readonly (readonly [href: string, label: string])[];
}) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(([href, text]) => (
      <a key={href} href={href} aria-current={href === present ? 'page' : undefined}>
        {text}
      </a>
    ))}
  </nav>
);
