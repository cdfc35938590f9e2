import { useEffect, useMemo } from 'preact/hooks';
import { t } from '../../text/words.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Snippet } from '../../ui/snippet.tsx';

/** The recovery codes, shown only once: to copy or to download. */
export const RecoveryCodes = ({
  codes,
  onDone,
}: {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}) => {
  const text = codes.join('\n');
  const file = useMemo(() => URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/plain' })), [text]);
  useEffect(() => () => URL.revokeObjectURL(file), [file]);
  return (
    <>
      <p role="status">{t.factor.codes}</p>
      <Snippet code={text} label={t.factor.recoveryCodes} />
      <div class="row">
        <LinkButton href={file} download="basalt-recovery-codes.txt">
          {t.transfers.download}
        </LinkButton>
        <Button kind="main-act" onClick={onDone}>
          {t.factor.kept}
        </Button>
      </div>
    </>
  );
};
