import type { Document as MongoDocument } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { type SearchLanguage, searchableFields } from '../../collections/schema/search-rules.ts';
import { AppError } from '../../core/errors.ts';
import { anyOf, type Condition } from '../read/condition.ts';
import { folded, type Search, type Term, type Word } from './parse-search.ts';
import { termPattern } from './search-patterns.ts';

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
