import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../text/words.ts';
import { useMended } from './form.tsx';
import { Wrong } from './wrong.tsx';

export interface LabelledProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The service's error. */
  readonly wrong?: string | undefined;
}

/** The ids that connect a control with its texts. */
interface Tied {
  readonly id: string;
  readonly 'aria-invalid'?: 'true' | undefined;
  readonly 'aria-describedby'?: string | undefined;
}

/** Messages name a value as the API does, such as `url` or `domains.0`. A form shows its label instead. */
export const namedBy = (label: string, wrong: string | undefined): string | undefined =>
  wrong?.replace(/^[a-z]\w*(?:\.\w+)*(?=:? (?:must|may|could|is|has|contains|cannot|needs)\b)/, label);

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** What the browser finds wrong with a value, in the words of the console. */
const invalidText = ({ validity, type, validationMessage }: Control): string => {
  if (validity.valueMissing) return t.invalid.missing;
  if (validity.typeMismatch && (type === 'email' || type === 'url')) return t.invalid[type];
  return validationMessage;
};

/** A control with its label, hint and error. */
export const Labelled = ({
  label,
  hint,
  wrong: said,
  children,
}: LabelledProps & { readonly children: (tied: Tied) => ComponentChildren }) => {
  const id = useId();
  const [unnamed, mend] = useMended(said);
  const invalid = useSignal<string | undefined>(undefined);
  const wrong = namedBy(label, unnamed) ?? invalid.value;
  const described = [hint !== undefined && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(' ');
  return (
    <div
      class="field"
      onInput={() => {
        mend();
        invalid.value = undefined;
      }}
      onInvalidCapture={(event) => {
        // The browser would show its own bubble.
        event.preventDefault();
        invalid.value = invalidText(event.target as Control);
      }}
    >
      <label for={id}>{label}</label>
      {children({ id, 'aria-invalid': wrong ? 'true' : undefined, 'aria-describedby': described || undefined })}
      {hint !== undefined && (
        <span id={`${id}-hint`} class="hint small">
          {hint}
        </span>
      )}
      <Wrong id={`${id}-wrong`} text={wrong} />
    </div>
  );
};
