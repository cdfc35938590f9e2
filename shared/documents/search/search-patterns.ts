import type { SearchLanguage } from '../../collections/schema/search-rules.ts';
import { folded, type Term } from './parse-search.ts';

/** Latin, Greek and Cyrillic, where letters have accents. */
const accented: readonly (readonly [from: number, to: number])[] = [
  [0xc0, 0x24f],
  [0x370, 0x45f],
  [0x1e00, 0x1fff],
];

let variants: ReadonlyMap<string, string> | undefined;

/** Each letter with those that are it with an accent. */
const variantsOf = (): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  for (const [from, to] of accented) {
    for (let code = from; code <= to; code += 1) {
      const letter = String.fromCodePoint(code);
      const base = folded(letter);
      if (letter === letter.toLowerCase() && base !== letter && [...base].length === 1) {
        found.set(base, (found.get(base) ?? '') + letter);
      }
    }
  }
  return found;
};

const letterPattern = (letter: string): string => {
  variants ??= variantsOf();
  return `[${letter}${variants.get(letter) ?? ''}]\\p{M}*`;
};

/** How much of a word its other forms share with it: `run` of `running`, `organi` of `organization`. */
const beginning = (word: string): string => {
  const letters = [...word];
  return letters.slice(0, Math.max(3, Math.min(letters.length - 4, Math.ceil(letters.length / 2)))).join('');
};

const wordPattern = (word: string, isWhole: boolean): string =>
  isWhole
    ? [...word].map(letterPattern).join('')
    : `${[...beginning(word)].map(letterPattern).join('')}[\\p{L}\\p{M}\\p{N}_]*`;

/**
 * The pattern, without regard to case, that finds a term in a text. In a language a single word is found in other forms
 * that begin alike too.
 */
export const termPattern = (term: Term, language: SearchLanguage): string => {
  const isWhole = language === 'none' || term.length > 1;
  const words = term.map((word) => wordPattern(word, isWhole)).join('[^\\p{L}\\p{N}_]+');
  return `(?<![\\p{L}\\p{M}\\p{N}_])${words}(?![\\p{L}\\p{M}\\p{N}_])`;
};
