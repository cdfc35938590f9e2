import { AppError } from '../../core/errors.ts';

/** Words that must stand one after the other; mostly one. In lower case, without accents. */
export type Term = readonly string[];

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

/** A text as searches compare it: case and accents make no difference. */
export const folded = (text: string): string =>
  text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().normalize('NFC');

const termOf = (text: string): Term => folded(text).match(/[\p{L}\p{N}_]+/gu) ?? [];

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
