import type { TargetedEvent } from 'preact';
import { Labelled } from './labelled.tsx';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onInput: (event: TargetedEvent<HTMLSelectElement>) => void;
}

/** One of several. */
export const Select = ({ label, value, options, onInput }: Props) => (
  <Labelled label={label}>
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
