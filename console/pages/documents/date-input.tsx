import type { InputHTMLAttributes } from 'preact';

const two = (value: number, length = 2): string => String(value).padStart(length, '0');

/** A date as the text of a `datetime-local` input, in local time. `undefined` if the input cannot show it. */
export const localText = (text: string): string | undefined => {
  if (text === '') return '';
  const at = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) || Number.isNaN(at.getTime()) || at.getFullYear() < 1000)
    return undefined;
  const day = `${two(at.getFullYear(), 4)}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  // As short as browsers write it.
  const ms = two(at.getMilliseconds(), 3).replace(/0+$/, '');
  const seconds = ms ? `:${two(at.getSeconds())}.${ms}` : at.getSeconds() > 0 ? `:${two(at.getSeconds())}` : '';
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`;
};

/** The reader's time zone, such as `Europe/Berlin`. */
export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

interface Props {
  readonly local: string;
  readonly onType: (text: string) => void;
  readonly common: Pick<
    InputHTMLAttributes<HTMLInputElement>,
    'id' | 'aria-invalid' | 'aria-describedby' | 'aria-label'
  >;
}

/** Date and time in the reader's time zone. What is stored is UTC. */
export const DateInput = ({ local, onType, common }: Props) => (
  <input
    {...common}
    type="datetime-local"
    class="input"
    step={local.includes('.') ? 0.001 : 1}
    value={local}
    onInput={({ currentTarget: { value, validity } }) => {
      // A part that is still missing is not an empty field.
      if (validity.badInput) return;
      const at = new Date(value);
      onType(Number.isNaN(at.getTime()) ? '' : at.toISOString());
    }}
  />
);
