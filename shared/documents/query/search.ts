import type { Document as MongoDocument } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { type SearchLanguage, searchableFields } from '../../collections/schema/field-types.ts';
import { AppError } from '../../core/errors.ts';
import { anyOf, type Condition } from './condition.ts';

/** A word as written, with adjacent characters that MongoDB may count as part of it, such as `®`. */
interface Word {
  readonly text: string;
  readonly around: string;
}

/** Words that must follow one another; usually a single one. */
type Term = readonly Word[];

/** A parsed search. */
export interface Search {
  /** All must occur; at least one. */
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

/**
 * A text without case, and without accents where marks are accents: in Hindi, Japanese or Thai they are part of the
 * spelling.
 */
const folded = (text: string): string => text.normalize('NFD').replace(accents, '$1').toLowerCase().normalize('NFC');

/**
 * MongoDB's text index splits at white space, general punctuation and ASCII other than these characters, and at
 * little else.
 */
const unsplit = /(?:[^\s\p{ASCII}\u2010-\u205e]|[\w'])+/gu;

const termOf = (text: string): Term => {
  const runs = [...text.matchAll(unsplit)];
  return [...text.matchAll(/[\p{L}\p{M}\p{N}_]*[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*/gu)].map(({ 0: word, index }) => ({
    text: word,
    around: runs.find((run) => run.index + run[0].length > index)?.[0] ?? word,
  }));
};

/**
 * Parses a search: words, `"a phrase"`, and exclusions such as `-word` or `-"a phrase"`. Throws 400 `INVALID_QUERY`
 * unless it has 1 to 256 characters and a word that must occur (contract 2, "search").
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

/** Latin, Greek, Cyrillic, Arabic and Hebrew, whose letters can have accents. */
const accented: readonly (readonly [from: number, to: number])[] = [
  [0xc0, 0x24f],
  [0x370, 0x52f],
  [0x620, 0x6d5],
  [0x1e00, 0x1fff],
  [0xfb1d, 0xfb4e],
];

let variants: ReadonlyMap<string, string> | undefined;

/** A case-insensitive pattern compares a letter by its lower case; that of `İ` has two characters. */
const isListed = (letter: string): boolean => letter === letter.toLowerCase() || letter === 'İ';

/** Each letter with its accented forms. */
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

/** The letters of a word as a reader sees them: with their marks, and syllables of Hangul as one. */
const lettersOf = (word: string): readonly string[] =>
  word.match(/[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|\P{M}\p{M}*/gu) ?? [];

/** A letter in every form that may be stored: with or without accents, composed or not, and as written. */
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

/** The part of a word that its inflected forms share: `run` of `running`, `organi` of `organization`. */
const beginning = (letters: readonly string[]): readonly string[] =>
  letters.slice(0, Math.max(3, Math.min(letters.length - 4, Math.ceil(letters.length / 2))));

const wordPattern = (word: string, language: SearchLanguage, isWhole: boolean): string => {
  const letters = lettersOf(word);
  const patterns = (isWhole ? letters : beginning(letters)).map((letter) => letterPattern(letter, language));
  return patterns.join('') + (isWhole ? '' : '[\\p{L}\\p{M}\\p{N}_]*');
};

/** The case-insensitive pattern for a term. With a language, a single word also matches forms that begin alike. */
const termPattern = (term: Term, language: SearchLanguage): string => {
  const isWhole = language === 'none' || term.length > 1;
  const words = term.map(({ text }) => wordPattern(text, language, isWhole)).join('[^\\p{L}\\p{N}_]+');
  return `(?<![\\p{L}\\p{M}\\p{N}_])${words}(?![\\p{L}\\p{M}\\p{N}_])`;
};

const maxBeginnings = 8;

/**
 * The conditions of a search for beginnings of words: each word of `text` begins a word of one of the fields. Case and
 * accents do not count. Throws 400 `INVALID_QUERY`.
 */
export const beginningsIn = (keys: readonly string[], text: string): readonly Condition[] => {
  const length = [...text].length;
  if (length === 0 || length > maxCharacters) throw invalid(`must have 1 to ${maxCharacters} characters.`);
  const words = new Set(termOf(text).map((word) => word.text));
  if (words.size === 0 || words.size > maxBeginnings) throw invalid(`must have 1 to ${maxBeginnings} words.`);
  return [...words].map((word) => occurs(keys, `(?<![\\p{L}\\p{M}\\p{N}_])${wordPattern(word, 'none', true)}`));
};

/** How a search finds and ranks documents: by the text index, or by examining each document. */
export interface SearchPlan {
  readonly conditions: readonly Condition[];
  /** The score of a document as an expression; `undefined` if the index provides it. */
  readonly score?: MongoDocument;
}

const occurs = (keys: readonly string[], pattern: string): Condition =>
  anyOf(keys.map((key) => ({ [key]: { $regex: pattern, $options: 'i' } })));

/** The characters of a text that count for its score: each match uses memory of the database. */
const scoredCharacters = 2000;

/** The number of matches of the pattern at the beginning of a text, or of the texts in a list. */
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

/** With a language the longest word may be a stop word, such as `there`, which no index contains. */
const askedInLanguage = 3;

/**
 * The words for the text index. It reads every document with any of them, and the longest are usually in the fewest
 * documents. One is enough if every word is indexed.
 */
const longest = (words: readonly Word[], language: SearchLanguage): readonly Word[] =>
  words
    .toSorted((one, other) => other.text.length - one.text.length)
    .slice(0, language === 'none' ? 1 : askedInLanguage);

/** The languages in which MongoDB keeps an apostrophe inside a word. */
const joiningApostrophe: SearchLanguage = 'english';

/**
 * The forms in which the index may hold a word: as written, and without case, accents and composition, which it does
 * not fold in all scripts. For the index `İ` is not a case of `i`.
 */
const spellings = ({ text, around }: Word, language: SearchLanguage): readonly string[] => {
  const plain = folded(text);
  const parts = language === joiningApostrophe ? [around] : around.split("'");
  const dotted = language === 'turkish' ? [] : [plain.replace(/^i/, 'İ'), plain.replaceAll('i', 'İ')];
  const whole = parts.find((part) => part.includes(text)) ?? text;
  return [...new Set([text, text.normalize('NFC'), text.normalize('NFD'), plain, whole, ...dotted])];
};

/** The query of the text index: documents with one of the words and without the excluded ones, in their forms. */
const indexed = (words: readonly Word[], excluded: readonly Term[], language: SearchLanguage): Condition => {
  const without = excluded.flatMap((term) => {
    const [one, ...more] = term;
    return one && more.length === 0 ? spellings(one, language).map((spelling) => `-${spelling}`) : [];
  });
  return { $text: { $search: [...words.flatMap((word) => spellings(word, language)), ...without].join(' ') } };
};

/**
 * Plans a search. The text index is used only if nothing is hidden from the caller (`byIndex`): it covers all
 * documents, so its time and scores would reveal hidden ones. Throws 400 `SEARCH_NOT_ENABLED` if no field is
 * searchable.
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
