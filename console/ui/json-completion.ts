import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import type { Extension, Text } from '@codemirror/state';
import { insertionOf, type JsonPart } from './json-insertion.ts';

/** A part of JSON that the editor suggests. */
export interface NamedPart extends JsonPart {
  readonly label: string;
  readonly hint?: string;
}

/** The range that a part replaces: the typed name with its quotes. */
const replacedRange = (doc: Text, from: number, to: number): readonly [from: number, to: number] => [
  doc.sliceString(from - 1, from) === '"' ? from - 1 : from,
  doc.sliceString(to, to + 1) === '"' ? to + 1 : to,
];

const toCompletion = ({ label, hint, ...part }: NamedPart): Completion => ({
  label,
  ...(hint !== undefined && { detail: hint }),
  apply: (view, _completion, typedFrom, typedTo) => {
    const { doc } = view.state;
    const [from, to] = replacedRange(doc, typedFrom, typedTo);
    const inserted = insertionOf(part, doc.sliceString(0, from), doc.sliceString(to));
    view.dispatch({
      changes: { from, to, insert: inserted.text },
      selection: { anchor: from + inserted.from, head: from + inserted.to },
      scrollIntoView: true,
      userEvent: 'input.complete',
    });
  },
});

const name = /[$\w.]*/;

/** The suggestions, if a name or quote was typed before the cursor or the list was requested. */
const completionsAt = (context: CompletionContext, parts: readonly NamedPart[]): CompletionResult | null => {
  const typed = context.matchBefore(/"?[$\w.]*$/);
  if (!context.explicit && (typed?.text ?? '') === '') return null;
  const from = (typed?.from ?? context.pos) + (typed?.text.startsWith('"') ? 1 : 0);
  return { from, options: parts.map(toCompletion), validFor: name };
};

export const completing = (parts: () => readonly NamedPart[]): Extension =>
  autocompletion({ icons: false, override: [(context) => completionsAt(context, parts())] });
