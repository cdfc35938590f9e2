import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { t } from '../text/words.ts';

export interface Choice {
  readonly label: string;
  /** Shown at the end: the keys or the id. */
  readonly note?: ComponentChildren;
}

interface Props<T extends Choice> {
  readonly label: string;
  readonly hint: string;
  readonly typed: Signal<string>;
  /** The matches of the typed text; `undefined` until known. */
  readonly found: readonly T[] | undefined;
  readonly onChoose: (choice: T) => void;
}

const pauseMs = 200;

/** The typed text of a `Combobox`, and the text to search for, which follows after 200 ms without typing. */
export const useTyped = () => {
  const typed = useSignal('');
  const settled = useSignal('');
  useEffect(() => {
    const timer = setTimeout(() => {
      settled.value = typed.value.trim();
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [typed.value, settled]);
  return { typed, settled };
};

/**
 * The properties of a text field with matches, and their list: arrows move, Enter or a click chooses. The number of
 * matches is read aloud.
 */
export const useMatches = <T extends Choice>(
  label: string,
  known: readonly T[] | undefined,
  onChoose: (choice: T) => void,
) => {
  const id = useId();
  const moved = useSignal(0);
  const found = known ?? [];
  const chosen = Math.min(moved.value, Math.max(0, found.length - 1));
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 && event.key !== 'Enter') return;
    event.preventDefault();
    const choice = found[chosen];
    if (step !== 0) moved.value = (chosen + step + found.length) % Math.max(1, found.length);
    else if (choice) onChoose(choice);
  };
  const field = {
    role: 'combobox',
    'aria-expanded': found.length > 0,
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    'aria-controls': id,
    'aria-activedescendant': found.length > 0 ? `${id}-${chosen}` : undefined,
  } as const;
  const list = (
    <>
      <div id={id} role="listbox" class="choices" aria-label={label}>
        {found.map((choice, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys.
          <div
            key={`${at} ${choice.label}`}
            id={`${id}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            onClick={() => onChoose(choice)}
          >
            <span>{choice.label}</span>
            {choice.note}
          </div>
        ))}
      </div>
      <p role="status" class={known && found.length === 0 ? 'muted' : 'spoken'}>
        {known && t.table.found(found.length)}
      </p>
    </>
  );
  const restart = () => {
    moved.value = 0;
  };
  return { field, list, onKeyDown, restart };
};

/** A text field above a list of matches. */
export const Combobox = <T extends Choice>({ label, hint, typed, found, onChoose }: Props<T>) => {
  const { field, list, onKeyDown, restart } = useMatches(label, found, onChoose);
  return (
    <>
      <input
        {...field}
        class="input"
        aria-label={label}
        placeholder={hint}
        value={typed.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          restart();
        }}
        onKeyDown={onKeyDown}
      />
      {list}
    </>
  );
};
