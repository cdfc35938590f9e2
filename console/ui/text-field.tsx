import type { TargetedEvent } from 'preact';
import { Labelled, type LabelledProps } from './labelled.tsx';

interface Props extends LabelledProps {
  readonly value: string;
  readonly rows?: number;
  readonly onInput: (event: TargetedEvent<HTMLTextAreaElement>) => void;
}

/** A value of several lines. */
export const TextField = ({ value, rows = 8, onInput, ...words }: Props) => (
  <Labelled {...words}>
    {(tied) => (
      <textarea
        {...tied}
        class="input mono"
        rows={rows}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={onInput}
      />
    )}
  </Labelled>
);
