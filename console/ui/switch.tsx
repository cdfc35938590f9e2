import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

interface Asked {
  readonly on: boolean;
  /** From then on what is read tells of it. */
  answered: boolean;
}

/**
 * Yes or no, with what it means. What was clicked is shown until its answer has been read, whatever is read meanwhile.
 */
export const Switch = ({
  label,
  hint,
  on,
  onChange,
  marked = false,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly on: boolean;
  readonly onChange: (on: boolean) => void | Promise<void>;
  /** A link led to it: it is in view, has the focus, and is outlined. */
  readonly marked?: boolean;
}) => {
  const box = useRef<HTMLInputElement>(null);
  const id = useId();
  const [asked, ask] = useState<Asked>();
  // After the router, which scrolls a new page to its top.
  useEffect(() => {
    if (!marked) return;
    box.current?.scrollIntoView({ block: 'center' });
    box.current?.focus({ preventScroll: true });
  }, [marked]);
  const change = async (next: boolean): Promise<void> => {
    const done = onChange(next);
    if (!done) return;
    const mine: Asked = { on: next, answered: false };
    ask(mine);
    try {
      await done;
      mine.answered = true;
    } catch (error) {
      ask((now) => (now === mine ? undefined : now));
      throw error;
    }
  };
  return (
    <div class={marked ? 'switch marked' : 'switch'}>
      <input
        ref={box}
        id={id}
        type="checkbox"
        checked={asked && !asked.answered ? asked.on : on}
        onChange={(event) => void change(event.currentTarget.checked)}
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
