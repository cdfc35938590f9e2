import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The editor's theme, made of the page's design tokens. */
export const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', font: 'var(--code) var(--mono)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { font: 'inherit', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { color: 'var(--muted)', backgroundColor: 'var(--n1)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in oklab, var(--accent-soft) 40%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-soft)',
  },
  '.cm-panels, .cm-tooltip': { color: 'var(--text)', backgroundColor: 'var(--n1)', borderColor: 'var(--line)' },
  '.cm-tooltip': { maxWidth: '100%' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { font: 'inherit' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--text)', background: 'var(--accent-soft)' },
  '.cm-completionDetail': { color: 'var(--muted)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: 'bold' },
  '.cm-button, .cm-textfield': {
    color: 'inherit',
    background: 'var(--page)',
    border: '1px solid var(--control)',
    borderRadius: 'var(--radius)',
  },
  '.cm-foldPlaceholder': { color: 'var(--muted)', background: 'var(--n2)', borderColor: 'var(--line)' },
});

export const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warning)' },
  { tag: tags.punctuation, color: 'var(--muted)' },
]);
