import { useState } from 'preact/hooks';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import { toClipboard } from './clipboard.ts';

const shownMs = 1500;

export const Copy = ({
  text,
  label = t.acts.copy,
  onCopied,
}: {
  readonly text: string;
  readonly label?: string;
  readonly onCopied?: (() => void) | undefined;
}) => {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await toClipboard(text))) return;
    setCopied(true);
    onCopied?.();
    setTimeout(() => setCopied(false), shownMs);
  };
  return (
    <Button kind="plain" aria-live="polite" onClick={() => void copy()}>
      {copied ? t.acts.copied : label}
    </Button>
  );
};
