import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Wrong } from './wrong.tsx';

export interface LabelledProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What the service said of it. */
  readonly wrong?: string | undefined;
}

/** What ties a control to the words around it. */
interface Tied {
  readonly id: string;
  readonly 'aria-invalid'?: 'true' | undefined;
  readonly 'aria-describedby'?: string | undefined;
}

/** A control with its name, what it is for, and what is wrong with it. */
export const Labelled = ({
  label,
  hint,
  wrong,
  children,
}: LabelledProps & { readonly children: (tied: Tied) => ComponentChildren }) => {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(' ');
  return (
    <div class="field">
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
