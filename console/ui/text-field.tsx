import type { TargetedEvent } from 'preact';
import { Labelled, type LabelledProps } from './labelled.tsx';

interface Props extends LabelledProps {
  readonly value: string;
  readonly rows?: number;
  readonly required?: boolean;
  readonly onInput: (event: TargetedEvent<HTMLTextAreaElement>) => void;
}

/** A value of several lines. */
export const TextField = ({ value, rows = 8, required, onInput, ...words }: Props) => (
  <Labelled {...words}>
    {(tied) => (
      <textarea
        {...tied}
        class="input mono"
        rows={rows}
        required={required}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={onInput}
      />
    )}
  </Labelled>
);
