import type { Document as MongoDocument } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { type SearchLanguage, searchableFields } from '../../collections/schema/field-types.ts';
import { AppError } from '../../core/errors.ts';
import { anyOf, type Condition } from './condition.ts';

/** A word as it was written, and the characters around it that MongoDB may take for a part of it, such as `®`. */
interface Word {
  readonly text: string;
  readonly around: string;
}

/** Words that must stand one after the other; mostly one. */
type Term = readonly Word[];

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
const folded = (text: string): string => text.normalize('NFD').replace(accents, '$1').toLowerCase().normalize('NFC');

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
const termPattern = (term: Term, language: SearchLanguage): string => {
  const isWhole = language === 'none' || term.length > 1;
  const words = term.map(({ text }) => wordPattern(text, language, isWhole)).join('[^\\p{L}\\p{N}_]+');
  return `(?<![\\p{L}\\p{M}\\p{N}_])${words}(?![\\p{L}\\p{M}\\p{N}_])`;
};

/** How documents are found that a search is for, and which are best: by the text index, or by looking at each. */
export interface SearchPlan {
  readonly conditions: readonly Condition[];
  /** How good a document is, as an expression; `undefined` where the index says it. */
  readonly score?: MongoDocument;
}

const occurs = (keys: readonly string[], pattern: string): Condition =>
  anyOf(keys.map((key) => ({ [key]: { $regex: pattern, $options: 'i' } })));

/** Of a text, as far as it is looked at for how good a document is: each place found takes memory of the database. */
const scoredCharacters = 2000;

/** How often the pattern occurs at the beginning of a text, or of the texts of a list. */
const occurrences = (key: string, pattern: string): MongoDocument => {
  const value = { $getField: { $literal: key } };
  const found = {
    $size: { $regexFindAll: { input: { $substrCP: ['$$this', 0, scoredCharacters] }, regex: pattern, options: 'i' } },
  };
  return {
    $sum: {
      $map: {
        input: { $cond: [{ $isArray: value }, value, [value]] },
        in: { $cond: [{ $eq: [{ $type: '$$this' }, 'string'] }, found, 0] },
      },
    },
  };
};

/** In a language the longest word may be one that says nothing, such as `there`, which no index has. */
const askedInLanguage = 3;

/**
 * The words that the text index is asked for: it reads whatever has any of them, and the longest are mostly in the
 * fewest documents. One is enough where every word is in the index.
 */
const longest = (words: readonly Word[], language: SearchLanguage): readonly Word[] =>
  words
    .toSorted((one, other) => other.text.length - one.text.length)
    .slice(0, language === 'none' ? 1 : askedInLanguage);

/** Where an apostrophe stands inside of words to MongoDB. */
const joiningApostrophe: SearchLanguage = 'english';

/**
 * A word in every way that the index may have it: as it was written, which it reads as it has read the documents, and
 * without case, accents and composition, which it does not see through in all scripts. To it `İ` is no case of `i`.
 */
const spellings = ({ text, around }: Word, language: SearchLanguage): readonly string[] => {
  const plain = folded(text);
  const parts = language === joiningApostrophe ? [around] : around.split("'");
  const dotted = language === 'turkish' ? [] : [plain.replace(/^i/, 'İ'), plain.replaceAll('i', 'İ')];
  const whole = parts.find((part) => part.includes(text)) ?? text;
  return [...new Set([text, text.normalize('NFC'), text.normalize('NFD'), plain, whole, ...dotted])];
};

/** What the text index is asked: documents with one of the words and without the excluded ones, in their forms. */
const indexed = (words: readonly Word[], excluded: readonly Term[], language: SearchLanguage): Condition => {
  const without = excluded.flatMap((term) => {
    const [one, ...more] = term;
    return one && more.length === 0 ? spellings(one, language).map((spelling) => `-${spelling}`) : [];
  });
  return { $text: { $search: [...words.flatMap((word) => spellings(word, language)), ...without].join(' ') } };
};

/**
 * How to search a collection. By the index where nothing is hidden from the caller (`byIndex`): it knows of all
 * documents, so that its time and scores would tell of hidden ones. No field is searchable → 400 `SEARCH_NOT_ENABLED`.
 */
export const planSearch = (collection: Collection, search: Search, byIndex: boolean): SearchPlan => {
  const keys = searchableFields(collection).map(({ key }) => key);
  if (keys.length === 0) {
    throw new AppError(
      'SEARCH_NOT_ENABLED',
      `No field of the collection "${collection.name}" is searchable. Give the fields to search "searchable": true in its schema.`,
    );
  }
  const { searchLanguage: language = 'none' } = collection;
  const patternOf = (term: Term) => termPattern(term, language);
  const { wanted, excluded } = search;
  const words = longest(wanted.flat(), language);
  const isAsked = (term: Term) => term.length === 1 && words.length === 1 && term[0] === words[0];
  const required = byIndex ? wanted.filter((term) => !isAsked(term)) : wanted;
  const left = byIndex ? excluded.filter((term) => term.length > 1) : excluded;
  const conditions = [
    ...required.map((term) => occurs(keys, patternOf(term))),
    ...left.map((term) => ({ $nor: [occurs(keys, patternOf(term))] })),
  ];
  if (byIndex) return { conditions: [indexed(words, excluded, language), ...conditions] };
  const pattern = patternOf(words.slice(0, 1));
  return { conditions, score: { $sum: keys.map((key) => occurrences(key, pattern)) } };
};
