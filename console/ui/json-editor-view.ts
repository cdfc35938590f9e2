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

/** The error of a value inside the text, by its path. */
export interface WrongValue {
  readonly path: string;
  readonly message: string;
}

interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly readOnly: boolean;
  /** The suggestions while typing. */
  readonly parts?: (() => readonly NamedPart[]) | undefined;
  /** Called after a change. For large texts it waits for a pause. */
  readonly onInput: (text: string) => void;
}

/**
 * Replaces the selection by the typed text. The browser would do it too, but keep the old look in a style attribute,
 * which the page's content security policy rejects and reports.
 */
const replaceSelected = ({ inputType, data }: InputEvent, view: EditorView): boolean => {
  if (inputType !== 'insertText' || data === null || view.composing) return false;
  // The editor may not know of a selection made just now; `document` does not see into a shadow root.
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

/** The service's error for a value, until the text changes. */
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

/** Larger texts are parsed only after a pause. */
const largeLength = 64 * 1024;
const pauseMs = 250;

/**
 * Mounts a JSON editor. It is in a shadow root, because the page's content security policy allows style sheets that
 * scripts adopt there, but not style elements.
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
    // The last input belongs to what a shortcut saves.
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
    /** Replaces the text if it differs. */
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
    /** Marks a value as wrong until the text changes. */
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
