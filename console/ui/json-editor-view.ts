import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, syntaxHighlighting } from '@codemirror/language';
import { linter } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { colours, theme } from './json-editor-theme.ts';

interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly readOnly: boolean;
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

/** Texts above it are read after a pause alone. */
const largeLength = 64 * 1024;
const pauseMs = 250;

/**
 * Puts an editor for JSON into an element. It lives in a shadow root, since style sheets that a script makes are
 * adopted there, which the page's policy allows; a style element would be refused.
 */
export const mountEditor = (host: HTMLElement, { label, text, readOnly, onInput }: EditorOptions) => {
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
    EditorView.contentAttributes.of({ 'aria-label': label, ...(readOnly ? { 'aria-readonly': 'true' } : {}) }),
    EditorView.lineWrapping,
    EditorState.readOnly.of(readOnly),
    json(),
    ...(readOnly ? [] : [history(), linter(jsonParseLinter()), highlightActiveLine()]),
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
    focus: (): void => view.focus(),
    destroy: (): void => {
      flush();
      view.destroy();
    },
  };
};
