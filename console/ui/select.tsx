import type { TargetedEvent } from 'preact';
import { Labelled, type LabelledProps } from './labelled.tsx';

interface Props extends LabelledProps {
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onInput: (event: TargetedEvent<HTMLSelectElement>) => void;
}

/** One of several. */
export const Select = ({ value, options, onInput, ...words }: Props) => (
  <Labelled {...words}>
    {(tied) => (
      <select {...tied} class="input" value={value} onInput={onInput}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);
