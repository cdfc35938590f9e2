import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { completing, type NamedPart } from './json-completion.ts';
import { colours, theme } from './json-editor-theme.ts';
import { insertionOf, type JsonPart } from './json-insertion.ts';
import { rangeAt } from './json-range.ts';

/** What is wrong with a value inside the text, by its path there. */
export interface WrongValue {
  readonly path: string;
  readonly message: string;
}

interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly readOnly: boolean;
  /** What is offered while someone types. */
  readonly parts?: (() => readonly NamedPart[]) | undefined;
  /** Called after what was typed, not more often than a text of this size allows. */
  readonly onInput: (text: string) => void;
}

/**
 * Replaces what is selected by what is typed. The browser would do it by itself, and keep the look of what was there in
 * a style attribute, which the page's policy refuses and reports.
 */
const replaceSelected = ({ inputType, data }: InputEvent, view: EditorView): boolean => {
  if (inputType !== 'insertText' || data === null || view.composing) return false;
  // What was selected just now the editor may not know of yet; the document does not see into a shadow root.
  const selected = (view.root as Partial<Document>).getSelection?.() ?? document.getSelection();
  if (!selected?.anchorNode || !selected.focusNode || selected.isCollapsed) return false;
  const { main } = view.state.selection;
  const ends = main.empty
    ? [
        view.posAtDOM(selected.anchorNode, selected.anchorOffset),
        view.posAtDOM(selected.focusNode, selected.focusOffset),
      ]
    : [main.from, main.to];
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  const selection = { anchor: from + data.length };
  view.dispatch({ changes: { from, to, insert: data }, selection, scrollIntoView: true, userEvent: 'input.type' });
  return true;
};

const wrongValue = StateEffect.define<WrongValue | undefined>();

/** What was said of a value, until the text changes. */
const saidWrong = StateField.define<WrongValue | undefined>({
  create: () => undefined,
  update: (said, { docChanged, effects }) =>
    effects.reduce((now, effect) => (effect.is(wrongValue) ? effect.value : now), docChanged ? undefined : said),
});

const markWrong = linter(
  ({ state }) => {
    const said = state.field(saidWrong);
    return said ? [{ ...rangeAt(state, said.path), severity: 'error', message: said.message }] : [];
  },
  {
    delay: 0,
    needsRefresh: ({ state, startState }) => state.field(saidWrong) !== startState.field(saidWrong),
  },
);

/** Texts above it are read after a pause alone. */
const largeLength = 64 * 1024;
const pauseMs = 250;

/**
 * Puts an editor for JSON into an element. It lives in a shadow root, since style sheets that a script makes are
 * adopted there, which the page's policy allows; a style element would be refused.
 */
export const mountEditor = (host: HTMLElement, { label, text, readOnly, parts, onInput }: EditorOptions) => {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const parent = document.createElement('div');
  parent.style.height = '100%';
  root.replaceChildren(parent);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    onInput(view.state.doc.toString());
  };
  const changed = EditorView.updateListener.of(({ docChanged, state }) => {
    if (!docChanged) return;
    clearTimeout(timer);
    timer = setTimeout(flush, state.doc.length > largeLength ? pauseMs : 0);
  });
  const extensions = [
    // What was typed last belongs to what is saved by a key.
    keymap.of([
      {
        key: 'Mod-s',
        run: () => {
          flush();
          return false;
        },
      },
      ...defaultKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...searchKeymap,
    ]),
    EditorView.domEventHandlers({ blur: flush, ...(readOnly ? {} : { beforeinput: replaceSelected }) }),
    EditorView.contentAttributes.of({
      'aria-label': label,
      tabindex: '0',
      ...(readOnly ? { 'aria-readonly': 'true' } : {}),
    }),
    EditorView.lineWrapping,
    EditorState.readOnly.of(readOnly),
    json(),
    ...(parts ? [completing(parts)] : []),
    ...(readOnly ? [] : [history(), linter(jsonParseLinter()), saidWrong, markWrong, highlightActiveLine()]),
    lineNumbers(),
    foldGutter(),
    bracketMatching(),
    drawSelection(),
    search({ top: true }),
    highlightSelectionMatches(),
    syntaxHighlighting(colours),
    theme,
    changed,
  ];
  const view = new EditorView({ state: EditorState.create({ doc: text, extensions }), parent, root });
  return {
    /** Takes another text, as long as it is not the one that is there. */
    show: (next: string): void => {
      if (next === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
      clearTimeout(timer);
      timer = undefined;
    },
    /** Inserts a part at the cursor, or at the end of the object if the cursor is outside it. */
    insert: (part: JsonPart): void => {
      const { doc, selection } = view.state;
      const { from: at, to: end } = selection.main;
      const last = doc.toString().lastIndexOf('}');
      const isOutside = last > 0 && (end === 0 || at > last);
      const [from, to] = isOutside ? [last, last] : [at, end];
      const inserted = insertionOf(part, doc.sliceString(0, from), doc.sliceString(to));
      view.dispatch({
        changes: { from, to, insert: inserted.text },
        selection: { anchor: from + inserted.from, head: from + inserted.to },
        scrollIntoView: true,
        userEvent: 'input',
      });
      view.focus();
    },
    /** Marks a value that is wrong, until the text changes. */
    mark: (wrong: WrongValue | undefined): void => {
      if (!readOnly) view.dispatch({ effects: wrongValue.of(wrong) });
    },
    focus: (): void => view.focus(),
    destroy: (): void => {
      flush();
      view.destroy();
    },
  };
};
