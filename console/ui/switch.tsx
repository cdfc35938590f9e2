import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/** Yes or no, with what it means. */
export const Switch = ({
  label,
  hint,
  on,
  onChange,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void;
}) => {
  const id = useId();
  return (
    <div class="switch">
      <input
        id={id}
        type="checkbox"
        checked={on}
        onChange={(event) => onChange(event.currentTarget.checked)}
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <span id={`${id}-hint`} class="small muted">
          {hint}
        </span>
      )}
    </div>
  );
};
