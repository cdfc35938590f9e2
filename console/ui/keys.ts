/**
 * Every act that has a key, or two in a row, in the order of the help: `t.keyboard.acts` says what each does. Those
 * with `mod` (⌘ or Ctrl), and Escape, are also for inside of fields.
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

/** The keys of an act as they are shown: `⌘K` on a Mac, else `Ctrl+K`; `Del`. */
export const keyText = (act: KeyedAct): string =>
  keys[act]
    .replace(/mod\+(.)/, (_, letter: string) => `${isApple ? '⌘' : 'Ctrl+'}${letter.toUpperCase()}`)
    .replace('Delete', 'Del')
    .replace('Escape', 'Esc');
