/**
 * Every action with a shortcut of one or two keys, in the order of the help; `t.keyboard.acts` describes them. Those
 * with `mod` (⌘ or Ctrl) and Escape also work inside fields.
 */
export const keys = {
  palette: 'mod+k',
  overview: 'g o',
  documents: 'g d',
  users: 'g u',
  files: 'g f',
  mail: 'g m',
  settings: 'g s',
  filter: '/',
  next: 'j',
  before: 'k',
  insert: 'n',
  edit: 'e',
  duplicate: 'c',
  trash: 'Delete',
  save: 'mod+s',
  help: '?',
  close: 'Escape',
} as const;

export type KeyedAct = keyof typeof keys;

const isApple = /Mac|iPhone|iPad|iPod/.test(navigator.platform);

/** The keys of an action as text: `⌘K` on a Mac, otherwise `Ctrl+K`; `Del`. */
export const keyText = (act: KeyedAct): string =>
  keys[act]
    .replace(/mod\+(.)/, (_, letter: string) => `${isApple ? '⌘' : 'Ctrl+'}${letter.toUpperCase()}`)
    .replace('Delete', 'Del')
    .replace('Escape', 'Esc');
