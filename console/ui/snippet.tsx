import { Copy } from './copy.tsx';

/** Lines to paste elsewhere. */
export const Snippet = ({
  code,
  label,
  onCopied,
}: {
  readonly code: string;
  readonly label: string;
  readonly onCopied?: () => void;
}) => (
  <div class="snippet">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
    <section aria-label={label} tabIndex={0}>
      <pre>{code}</pre>
    </section>
    <Copy text={code} onCopied={onCopied} />
  </div>
);
