import { type Collection, isHiddenPath } from '../../collections/collection.ts';
import { isFieldPath, shown, typeAt } from '../../collections/schema/field-path.ts';
import {
  type FieldType,
  isScalar,
  type ScalarType,
  scalarRules,
  withArticle,
} from '../../collections/schema/field-types.ts';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import type { ListShape } from '../../usage/tally.ts';

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

/** The stored form of a JSON value; in a condition a number is no date. */
const storedForm = (type: ScalarType, value: unknown): unknown =>
  type === 'Date' && typeof value !== 'string' ? undefined : scalarRules[type].fromJson(value);

const described = (type: ScalarType): string =>
  type === 'Date' ? 'an ISO 8601 date, as a text' : scalarRules[type].described;

/**
 * What a condition compares with: the stored form of a JSON value by the field's type, where it has one. Lists, objects
 * and what is not of the type → 400 `INVALID_FILTER`; `null` is of every type.
 */
export const conditionValue = (type: FieldType | undefined, value: unknown, at: string): unknown => {
  if (typeof value === 'object' && value !== null) {
    throw invalidFilter(at, 'a list or an object is no value here. Use $in for one of several values, $all for all.');
  }
  if (value === null || type === undefined) return value;
  if (!isScalar(type)) {
    throw invalidFilter(at, `the field is ${withArticle(type)} and equals no single value. Compare one of its fields.`);
  }
  const stored = storedForm(type, value);
  if (stored === undefined) throw invalidFilter(at, `${shown(JSON.stringify(value))} is not ${described(type)}.`);
  return stored;
};

/** The same of a list of values, 1000 at most. */
export const conditionValues = (
  type: FieldType | undefined,
  operator: string,
  value: unknown,
  at: string,
): readonly unknown[] => {
  if (!Array.isArray(value)) throw invalidFilter(at, `${operator} takes a list of values.`);
  if (value.length > maxListed) throw invalidFilter(at, `${operator} takes at most ${maxListed} values.`);
  return value.map((element, index) => conditionValue(type, element, `${at}.${index}`));
};

/** Which fields are compared for equality, and which in other ways that an index can serve; each once, by name. */
export type ComparedFields = Pick<ListShape, 'equal' | 'range'>;

const equality: ReadonlySet<string> = new Set(['$eq', '$in', '$all']);

type Leaf = Pick<Comparison, 'path' | 'operator'>;

/** The paths of all fields that filters name, those of elements behind the path of their array. */
export const pathsOf = (filters: readonly ParsedFilter[], prefix = ''): readonly string[] =>
  filters.flatMap((filter) => {
    if ('all' in filter) return pathsOf(filter.all, prefix);
    if ('any' in filter) return pathsOf(filter.any, prefix);
    if ('not' in filter) return pathsOf([filter.not], prefix);
    const path = prefix + filter.path;
    if (!('element' in filter) || 'length' in filter.element) return [path];
    return pathsOf([filter.element], `${path}.`);
  });

/** The comparisons that hold for every document that is found, and the first alternative among the filters. */
interface Split {
  readonly leaves: Leaf[];
  any: readonly ParsedFilter[] | undefined;
}

const split = (filters: readonly ParsedFilter[], prefix: string, into: Split): Split => {
  for (const filter of filters) {
    if ('operator' in filter) {
      if (filter.operator !== '$size') into.leaves.push({ path: prefix + filter.path, operator: filter.operator });
    } else if ('element' in filter) {
      const { element } = filter;
      const path = prefix + filter.path;
      if (!('length' in element)) split([element], `${path}.`, into);
      else for (const test of element) if ('operator' in test) into.leaves.push({ path, operator: test.operator });
    } else if ('all' in filter) split(filter.all, prefix, into);
    else if ('any' in filter && prefix === '') into.any ??= filter.any;
  }
  return into;
};

const fieldsOf = (leaves: readonly Leaf[]): ComparedFields => {
  const named = (isEqual: boolean) => [
    ...new Set(leaves.filter(({ operator }) => equality.has(operator) === isEqual).map(({ path }) => path)),
  ];
  return { equal: named(true).sort(), range: named(false).sort() };
};

/**
 * What the filters compare, once for each index that they need: every branch of an alternative needs one of its own.
 * The first is of what must hold for all documents where branches differ.
 */
export const comparedFields = (
  filters: readonly ParsedFilter[],
): { readonly always: ComparedFields; readonly branches: readonly ComparedFields[] } => {
  const { leaves, any } = split(filters, '', { leaves: [], any: undefined });
  if (!any) {
    const always = fieldsOf(leaves);
    return { always, branches: [always] };
  }
  const branches = new Map<string, ComparedFields>();
  for (const branch of any) {
    const fields = fieldsOf([...leaves, ...split([branch], '', { leaves: [], any: undefined }).leaves]);
    branches.set(JSON.stringify(fields), fields);
  }
  const [first, ...others] = branches.values();
  return { always: first && others.length === 0 ? first : fieldsOf(leaves), branches: [...branches.values()] };
};

/** Fields by which nobody can filter, since another parameter decides about them. */
const trashFields: ReadonlySet<string> = new Set(['isDeleted', 'deletedAt']);

/**
 * Refuses what names no field, or one that documents cannot be filtered by. `at`: how the caller wrote it; `inElement`:
 * a field of an element of an array, which may have any name.
 */
export const requireFilterPath = (at: string, path: string, inElement = false): void => {
  if (!isFieldPath(path)) throw invalidFilter(at, 'this is not a field name.');
  if (inElement) return;
  if (isHiddenPath(path)) throw invalidFilter(at, 'documents cannot be filtered by it.');
  if (trashFields.has(path.split('.')[0] ?? '')) {
    throw invalidFilter(at, 'documents cannot be filtered by it. Use include_deleted=true to see the trash.');
  }
};

/** What values at a path are compared as: on arrays an element is enough, so it is theirs. `undefined`: anything. */
export const comparedTypeAt = (collection: Collection, path: string): FieldType | undefined => {
  const at = typeAt(collection, path);
  const type = at?.type === 'Array' ? at.items?.type : at?.type;
  return type === 'Array' ? undefined : type;
};

/** Whether any text is a value of a type: `null` too, and what patterns match. */
export const isText = (type: FieldType): boolean => type === 'String';

/** Refuses to look for a text in what the schema says is none. `operator`: as the caller wrote it. */
export const requireText = (at: string, operator: string, type: FieldType | undefined): void => {
  if (type === undefined || isText(type)) return;
  throw invalidFilter(at, `${operator} works on text; this is ${withArticle(type)}.`);
};
