import { useSignal } from '@preact/signals';
import type { InputHTMLAttributes } from 'preact';
import { rows } from '../../text/rows.ts';

/** More are edited as JSON. */
const mostTags = 100;

/** The tags in the text of a field, if it is a list of texts. */
export const tagsOf = (text: string): readonly string[] | undefined => {
  if (text === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    const isTags = Array.isArray(value) && value.length <= mostTags && value.every((tag) => typeof tag === 'string');
    return isTags ? (value as readonly string[]) : undefined;
  } catch {
    return undefined;
  }
};

interface Props {
  readonly tags: readonly string[];
  readonly onType: (text: string) => void;
  readonly field: string;
  readonly empty: string;
  readonly common: Pick<
    InputHTMLAttributes<HTMLInputElement>,
    'id' | 'aria-invalid' | 'aria-describedby' | 'aria-label'
  >;
}

/** A list of texts: Enter, a comma or leaving the field adds one, Backspace in the empty field removes the last. */
export const TagInput = ({ tags, onType, field, empty, common }: Props) => {
  const typed = useSignal('');
  const set = (next: readonly string[]) => onType(next.length === 0 ? '' : JSON.stringify(next));
  const add = () => {
    const tag = typed.peek().trim();
    typed.value = '';
    if (tag !== '') set([...tags, tag]);
  };
  return (
    <div class="row">
      {tags.map((tag, at) => (
        <span key={`${at} ${tag}`} class="chip">
          <span class="chip-text">{tag}</span>
          <button
            type="button"
            aria-label={rows.fields.removeTag(tag, field)}
            onClick={() => set(tags.toSpliced(at, 1))}
          >
            ✕
          </button>
        </span>
      ))}
      <input
        {...common}
        class="input short"
        dir="auto"
        autocomplete="off"
        placeholder={tags.length === 0 ? empty : rows.fields.addTag}
        value={typed.value}
        onInput={({ currentTarget: { value } }) => {
          typed.value = value;
        }}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if ((event.key === 'Enter' || event.key === ',') && typed.peek().trim() !== '') {
            event.preventDefault();
            event.stopPropagation();
            add();
          } else if (event.key === 'Backspace' && typed.peek() === '' && tags.length > 0) set(tags.slice(0, -1));
        }}
        onBlur={add}
      />
    </div>
  );
};
