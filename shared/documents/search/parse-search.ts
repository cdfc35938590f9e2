import { AppError } from '../../core/errors.ts';

/** A word as it was written, and the characters around it that MongoDB may take for a part of it, such as `®`. */
export interface Word {
  readonly text: string;
  readonly around: string;
}

/** Words that must stand one after the other; mostly one. */
export type Term = readonly Word[];

/** What a text asks to be found. */
export interface Search {
  /** Each must occur; there is at least one. */
  readonly wanted: readonly Term[];
  /** None may occur. */
  readonly excluded: readonly Term[];
}

const maxCharacters = 256;

const invalid = (reason: string): AppError => {
  const message = `search ${reason}`;
  return new AppError('INVALID_QUERY', message, { errors: [{ field: 'search', message }] });
};

const accents = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}])\p{M}+/gu;

/** A text without case, and without accents where marks are that: in Hindi, Japanese or Thai they spell. */
export const folded = (text: string): string =>
  text.normalize('NFD').replace(accents, '$1').toLowerCase().normalize('NFC');

/** MongoDB's text index splits at white space, at ASCII but for these, and at general punctuation; at little else. */
const unsplit = /(?:[^\s\p{ASCII}\u2010-\u205e]|[\w'])+/gu;

const termOf = (text: string): Term => {
  const runs = [...text.matchAll(unsplit)];
  return [...text.matchAll(/[\p{L}\p{M}\p{N}_]*[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*/gu)].map(({ 0: word, index }) => ({
    text: word,
    around: runs.find((run) => run.index + run[0].length > index)?.[0] ?? word,
  }));
};

/**
 * Reads what is searched for: words, `"a phrase"`, `-word` and `-"a phrase"` to leave out. Not 1 to 256 characters, or
 * nothing in it that is to occur → 400 `INVALID_QUERY` (contract 2, "search").
 */
export const parseSearch = (text: string): Search => {
  const length = [...text].length;
  if (length === 0 || length > maxCharacters) throw invalid(`must have 1 to ${maxCharacters} characters.`);
  const wanted: Term[] = [];
  const excluded: Term[] = [];
  for (const [, minus, phrase, word = ''] of text.matchAll(/(?<=^|\s)(-?)(?:"([^"]*)"|(\S+))/gu)) {
    const term = termOf(phrase ?? word);
    if (term.length > 0) (minus ? excluded : wanted).push(term);
  }
  if (wanted.length === 0) throw invalid('must name at least one word that is to occur.');
  return { wanted, excluded };
};
