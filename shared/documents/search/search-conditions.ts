import type { Document as MongoDocument } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { searchableFields } from '../../collections/schema/search-rules.ts';
import { AppError } from '../../core/errors.ts';
import { anyOf, type Condition } from '../read/condition.ts';
import type { Search, Term } from './parse-search.ts';
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

/**
 * The one word that the text index is asked for: it would read whatever has any of several, and the longest is mostly
 * in the fewest documents.
 */
const longest = (words: readonly string[]): string =>
  words.reduce((one, other) => (other.length > one.length ? other : one));

/** What the text index is asked: documents with a word and without the excluded ones, in their forms. */
const indexed = (word: string, excluded: readonly Term[]): Condition => {
  const without = excluded.flatMap((term) => (term.length === 1 ? [`-${term[0]}`] : []));
  return { $text: { $search: [word, ...without].join(' ') } };
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
  const word = longest(wanted.flat());
  const required = byIndex ? wanted.filter((term) => term.length > 1 || term[0] !== word) : wanted;
  const left = byIndex ? excluded.filter((term) => term.length > 1) : excluded;
  const conditions = [
    ...required.map((term) => occurs(keys, patternOf(term))),
    ...left.map((term) => ({ $nor: [occurs(keys, patternOf(term))] })),
  ];
  if (byIndex) return { conditions: [indexed(word, excluded), ...conditions] };
  const pattern = patternOf([word]);
  return { conditions, score: { $sum: keys.map((key) => occurrences(key, pattern)) } };
};
