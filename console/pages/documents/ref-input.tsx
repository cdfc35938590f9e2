import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../../text/words.ts';
import { useMatches, useTyped } from '../../ui/combobox.tsx';
import { showBeside } from '../../ui/floating.ts';
import { isId } from '../../ui/places.ts';
import { type Match, RefSearch } from './ref-search.tsx';

/** The matches beside their field, above everything else. */
const Floating = ({ of, children }: { readonly of: HTMLElement; readonly children: ComponentChildren }) => {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current) showBeside(box.current, of);
  });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the options inside take the clicks.
    <div
      ref={box}
      class="menu suggestions"
      popover="manual"
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
    >
      {children}
    </div>
  );
};

interface Props {
  readonly collectionName: string;
  readonly text: string;
  readonly onType: (text: string) => void;
  /** The properties that all inputs of a value have. */
  readonly common: Readonly<Record<string, unknown>>;
}

/** An input for the id of a document or user. What is typed is searched for, and a match becomes the value. */
export const RefInput = ({ collectionName, text, onType, common }: Props) => {
  const { typed, settled } = useTyped();
  const isOpen = useSignal(false);
  const found = useSignal<readonly Match[] | undefined>(undefined);
  const input = useRef<HTMLInputElement>(null);
  const show = (is: boolean) => {
    if (is && !isOpen.peek()) settled.value = typed.peek().trim();
    if (!is) found.value = undefined;
    isOpen.value = is;
  };
  const choose = ({ id }: Match) => {
    show(false);
    onType(id);
  };
  const matches = useMatches(t.documents.chooseOf(collectionName), found.value, choose);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (!isOpen.peek()) {
      if (event.key !== 'ArrowDown') return;
      // Typing replaces the present value.
      typed.value = isId(text) ? '' : text;
      show(true);
    } else if (event.key === 'Escape') {
      show(false);
    } else if (event.key === 'Enter' && found.peek()?.length === 0) {
      return;
    } else {
      // The matches of an earlier text cannot be chosen.
      if (event.key !== 'Enter' || settled.peek() === typed.peek().trim()) matches.onKeyDown(event);
      else event.preventDefault();
      if (!event.key.startsWith('Arrow') && event.key !== 'Enter') return;
    }
    event.preventDefault();
    // Enter would also save, and Escape close the panel.
    event.stopPropagation();
  };
  return (
    <>
      <input
        {...common}
        {...matches.field}
        ref={input}
        class={isId(text) ? 'input mono' : 'input'}
        dir="auto"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget: { value } }) => {
          typed.value = value;
          matches.restart();
          onType(value);
          show(value.trim() !== '' && !isId(value.trim()));
        }}
        onKeyDown={onKeyDown}
        onBlur={() => show(false)}
      />
      {isOpen.value && input.current && (
        <Floating of={input.current}>
          {matches.list}
          <RefSearch
            collectionName={collectionName}
            text={settled.value}
            onFound={(next) => {
              found.value = next;
            }}
          />
        </Floating>
      )}
    </>
  );
};
