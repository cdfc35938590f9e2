import { cutText } from '../../core/bounded-text.ts';
import { AppError } from '../../core/errors.ts';

/** How a value is compared, in the words of a condition (contract 2, "where"). */
export const operators = [
  ...(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists'] as const),
  ...(['$regex', '$contains', '$startsWith', '$endsWith', '$all', '$size'] as const),
] as const;

export type Operator = (typeof operators)[number];

/** One field, one operator, and what it compares with, as it is stored. */
export interface Comparison {
  readonly path: string;
  readonly operator: Operator;
  readonly operand: unknown;
  /** Of a pattern. */
  readonly ignoresCase?: true;
}

/** An element of an array for which a condition holds, or each of the tests of itself, whose paths are empty. */
export interface ElementMatch {
  readonly path: string;
  readonly element: ParsedFilter | readonly FieldTest[];
}

/** What one operator asks of one field. */
export type FieldTest = Comparison | ElementMatch;

/** What documents are asked for: suffix filters and `where` alike, of which nothing is left to be checked. */
export type ParsedFilter =
  | FieldTest
  | { readonly all: readonly ParsedFilter[] }
  | { readonly any: readonly ParsedFilter[] }
  | { readonly not: ParsedFilter };

/** Values in one list. */
export const maxListed = 1000;

const maxPattern = 128;
/** With every character escaped it stays within what the database takes as a pattern. */
const maxLiteral = 4096;
const maxNamed = 200;

/** A caller's name of a filter, or path in a condition, as it may stand in a message. */
const named = (at: string): string => cutText(at, maxNamed, '…');

/** The refusal of a filter (400). `at` is the query parameter as it was given, or the path in `where`. */
export const invalidFilter = (at: string, reason: string): AppError => {
  const message = `Filter "${named(at)}": ${reason}`;
  return new AppError('INVALID_FILTER', message, { errors: [{ field: named(at), message }] });
};

/** A pattern as it was given; too long, empty or with a NUL → 400 `INVALID_REGEX`. */
export const requirePattern = (at: string, text: string): string => {
  const length = [...text].length;
  if (length > 0 && length <= maxPattern && !text.includes('\0')) return text;
  const reason = text.includes('\0') ? 'contains a NUL character' : `must have 1 to ${maxPattern} characters`;
  const message = `Filter "${named(at)}": the regular expression ${reason}.`;
  throw new AppError('INVALID_REGEX', message, { errors: [{ field: named(at), message }] });
};

/** A text that is to be found as it stands. */
export const requireLiteral = (at: string, text: string): string => {
  if (text.length <= maxLiteral) return text;
  throw invalidFilter(at, `the text must have at most ${maxLiteral} characters.`);
};
