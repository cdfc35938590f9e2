import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';

/** A document as JSON, typed. */
export const JsonField = ({ label, text }: { readonly label: string; readonly text: Signal<string> }) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="input mono"
        rows={14}
        spellcheck={false}
        autocomplete="off"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
    </div>
  );
};
