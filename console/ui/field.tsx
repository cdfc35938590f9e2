import { useSignal } from '@preact/signals';
import type { InputHTMLAttributes, TargetedEvent } from 'preact';
import { useRef } from 'preact/hooks';
import { Labelled, type LabelledProps } from './labelled.tsx';

type Kept =
  | 'autocomplete'
  | 'inputMode'
  | 'max'
  | 'min'
  | 'maxLength'
  | 'onChange'
  | 'onInput'
  | 'pattern'
  | 'placeholder'
  | 'required'
  | 'value';

export interface FieldProps extends LabelledProps, Pick<InputHTMLAttributes<HTMLInputElement>, Kept> {
  readonly type?: 'date' | 'datetime-local' | 'email' | 'password' | 'text' | 'search' | 'url';
}

export const Field = ({ label, hint, wrong, ...input }: FieldProps) => (
  <Labelled label={label} hint={hint} wrong={wrong}>
    {(tied) => <input {...(input as InputHTMLAttributes<HTMLInputElement>)} {...tied} class="input" />}
  </Labelled>
);

/** The values of a form by name, as typed; touched if one differs from the first. */
export const useDraft = <T extends object>(given: T) => {
  const { current: first } = useRef(given);
  const draft = useSignal(first);
  const set =
    (name: keyof T) =>
    (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>): void => {
      draft.value = { ...draft.value, [name]: event.currentTarget.value };
    };
  /** Shows `next` after `sent` was saved, except in fields that were edited meanwhile. */
  const replace = (sent: T, next: T): void => {
    const now = { ...draft.peek() };
    for (const name in next) if (now[name] === sent[name]) now[name] = next[name];
    draft.value = now;
  };
  const isTouched = (Object.keys(first) as (keyof T)[]).some((name) => draft.value[name] !== first[name]);
  return { draft, set, replace, isTouched };
};
