import type { SearchLanguage } from '../../collections/schema/search-rules.ts';
import { folded, type Term } from './parse-search.ts';

/** Latin, Greek, Cyrillic, Arabic and Hebrew, where letters have accents. */
const accented: readonly (readonly [from: number, to: number])[] = [
  [0xc0, 0x24f],
  [0x370, 0x52f],
  [0x620, 0x6d5],
  [0x1e00, 0x1fff],
  [0xfb1d, 0xfb4e],
];

let variants: ReadonlyMap<string, string> | undefined;

/** A pattern without regard to case takes a letter for its lower case; that of `İ` alone is two characters. */
const isListed = (letter: string): boolean => letter === letter.toLowerCase() || letter === 'İ';

/** Each letter with those that are it with an accent. */
const variantsOf = (): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  for (const [from, to] of accented) {
    for (let code = from; code <= to; code += 1) {
      const letter = String.fromCodePoint(code);
      const base = folded(letter);
      if (isListed(letter) && base !== letter && [...base].length === 1) {
        found.set(base, (found.get(base) ?? '') + letter);
      }
    }
  }
  return found;
};

/** What a reader takes for a letter: with its marks, and a syllable of Hangul as one. */
const lettersOf = (word: string): readonly string[] =>
  word.match(/[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|\P{M}\p{M}*/gu) ?? [];

/** A letter in every form that it may be stored in: with accents or without, composed or not, and as it was written. */
const letterPattern = (letter: string, language: SearchLanguage): string => {
  variants ??= variantsOf();
  const base = folded(letter);
  const forms = [base, ...(variants.get(base) ?? ''), letter.normalize('NFC'), letter.normalize('NFD'), letter];
  if (language === 'turkish' && /[Iı]/.test(letter)) forms.push('I', 'ı');
  const [single, composed] = [new Set<string>(), new Set<string>()];
  for (const form of forms) ([...form].length === 1 ? single : composed).add(form);
  const one = `[${[...single].join('')}]`;
  const any = [...composed, ...(single.size > 0 ? [one] : [])];
  return `${any.length > 1 ? `(?:${any.join('|')})` : any[0]}\\p{M}*`;
};

/** How much of a word its other forms share with it: `run` of `running`, `organi` of `organization`. */
const beginning = (letters: readonly string[]): readonly string[] =>
  letters.slice(0, Math.max(3, Math.min(letters.length - 4, Math.ceil(letters.length / 2))));

const wordPattern = (word: string, language: SearchLanguage, isWhole: boolean): string => {
  const letters = lettersOf(word);
  const patterns = (isWhole ? letters : beginning(letters)).map((letter) => letterPattern(letter, language));
  return patterns.join('') + (isWhole ? '' : '[\\p{L}\\p{M}\\p{N}_]*');
};

/**
 * The pattern, without regard to case, that finds a term in a text. In a language a single word is found in other forms
 * that begin alike too.
 */
export const termPattern = (term: Term, language: SearchLanguage): string => {
  const isWhole = language === 'none' || term.length > 1;
  const words = term.map(({ text }) => wordPattern(text, language, isWhole)).join('[^\\p{L}\\p{N}_]+');
  return `(?<![\\p{L}\\p{M}\\p{N}_])${words}(?![\\p{L}\\p{M}\\p{N}_])`;
};
