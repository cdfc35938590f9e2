import type { TargetedEvent } from 'preact';
import { useId } from 'preact/hooks';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly hint?: string | undefined;
  readonly rows?: number;
  readonly wrong?: string | undefined;
  readonly onInput: (event: TargetedEvent<HTMLTextAreaElement>) => void;
}

/** A value of several lines. */
export const TextField = ({ label, hint, value, rows = 8, wrong, onInput }: Props) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="input mono"
        rows={rows}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={onInput}
        aria-invalid={wrong ? 'true' : undefined}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      {hint !== undefined && (
        <span id={`${id}-hint`} class="hint small">
          {hint}
        </span>
      )}
      {wrong && (
        <span class="wrong small" role="alert">
          {wrong}
        </span>
      )}
    </div>
  );
};
