import { useSignal } from '@preact/signals';
import type { ComponentChildren, InputHTMLAttributes, TargetedEvent } from 'preact';
import { useId } from 'preact/hooks';

type Kept =
  | 'autocomplete'
  | 'inputMode'
  | 'max'
  | 'min'
  | 'maxLength'
  | 'onInput'
  | 'pattern'
  | 'placeholder'
  | 'required'
  | 'value';

export interface FieldProps extends Pick<InputHTMLAttributes<HTMLInputElement>, Kept> {
  readonly type?: 'date' | 'datetime-local' | 'email' | 'password' | 'text' | 'search' | 'url';
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What the service said of it. */
  readonly wrong?: string | undefined;
}

/** One value of a form, with its name, what it is for, and what is wrong with it. */
export const Field = ({ label, hint, wrong, ...input }: FieldProps) => {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...(input as InputHTMLAttributes<HTMLInputElement>)}
        id={id}
        class="input"
        {...(wrong ? { 'aria-invalid': 'true' as const } : {})}
        {...(described ? { 'aria-describedby': described } : {})}
      />
      {hint !== undefined && (
        <span id={`${id}-hint`} class="hint small">
          {hint}
        </span>
      )}
      {wrong && (
        <span id={`${id}-wrong`} class="wrong small" role="alert">
          {wrong}
        </span>
      )}
    </div>
  );
};

/** The values of a form by name, as they are typed. */
export const useDraft = <T extends object>(first: T) => {
  const draft = useSignal(first);
  const set =
    (name: keyof T) =>
    (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>): void => {
      draft.value = { ...draft.value, [name]: event.currentTarget.value };
    };
  return { draft, set };
};
