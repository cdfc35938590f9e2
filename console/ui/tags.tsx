import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

interface Props {
  readonly label: ComponentChildren;
  readonly hint: string;
  readonly tags: readonly string[];
  readonly removeLabel: (tag: string) => string;
  readonly inputMode?: 'text' | 'decimal';
  readonly onChange: (tags: readonly string[]) => void;
}

/**
 * A list of texts. Enter, a comma or leaving the field adds what is typed, Backspace in the empty field removes the last.
 * Lines that are pasted may contain commas.
 */
export const Tags = ({ label, hint, tags, removeLabel, inputMode = 'text', onChange }: Props) => {
  const id = useId();
  const typed = useSignal('');
  const present = useRef({ tags, onChange });
  present.current = { tags, onChange };
  const add = (texts: readonly string[]) => {
    const { current } = present;
    typed.value = '';
    const next = [...new Set([...current.tags, ...texts.filter((text) => text !== '')])];
    if (next.length > current.tags.length) current.onChange(next);
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="input tags">
        {tags.map((tag, place) => (
          <span key={tag} class="chip">
            <span class="chip-text">{tag === '' ? '""' : tag}</span>
            <button type="button" aria-label={removeLabel(tag)} onClick={() => onChange(tags.toSpliced(place, 1))}>
              ✕
            </button>
          </span>
        ))}
        <input
          id={id}
          aria-describedby={`${id}-hint`}
          autocomplete="off"
          spellcheck={false}
          inputMode={inputMode}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
          onPaste={(event) => {
            const text = event.clipboardData?.getData('text') ?? '';
            if (!/[\n,]/.test(text)) return;
            event.preventDefault();
            add(text.split(text.includes('\n') ? /\r?\n/ : ',').map((part) => part.trim()));
          }}
          onKeyDown={(event) => {
            if (event.key === 'Tab') add([typed.value.trim()]);
            if (event.key === 'Backspace' && typed.value === '' && tags.length > 0) onChange(tags.slice(0, -1));
            if (event.key !== 'Enter' && event.key !== ',') return;
            event.preventDefault();
            add([typed.value.trim()]);
          }}
          // A new tag can move what is being clicked, so it is added with the click, and before that has an effect.
          onBlur={() => addEventListener('click', () => add([typed.peek().trim()]), { capture: true, once: true })}
        />
      </div>
      <span id={`${id}-hint`} class="hint small">
        {hint}
      </span>
    </div>
  );
};
