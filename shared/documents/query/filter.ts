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
import type { ListShape } from '../../usage/slow-lists.ts';

/** The comparisons of a condition (contract 2, "where"). */
export const operators = [
  ...(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists'] as const),
  ...(['$regex', '$contains', '$startsWith', '$endsWith', '$all', '$size'] as const),
] as const;

export type Operator = (typeof operators)[number];

/** A field, an operator and the stored form of its value. */
export interface Comparison {
  readonly path: string;
  readonly operator: Operator;
  readonly operand: unknown;
  /** For patterns. */
  readonly ignoresCase?: true;
}

/** An array element that meets a condition, or the element's own tests, whose paths are empty. */
export interface ElementMatch {
  readonly path: string;
  readonly element: ParsedFilter | readonly FieldTest[];
}

/** What an operator requires of a field. */
export type FieldTest = Comparison | ElementMatch;

/** A validated filter: of a suffix filter or of `where`. */
export type ParsedFilter =
  | FieldTest
  | { readonly all: readonly ParsedFilter[] }
  | { readonly any: readonly ParsedFilter[] }
  | { readonly not: ParsedFilter };

export const maxListed = 1000;

const maxPattern = 128;
/** With every character escaped it is still within MongoDB's limit for patterns. */
const maxLiteral = 4096;
const maxNamed = 200;

/** A caller's filter name or path, cut for a message. */
const named = (at: string): string => cutText(at, maxNamed, '…');

/** The error of a filter (400). `at` is the query parameter, or the path in `where`. */
export const invalidFilter = (at: string, reason: string): AppError => {
  const message = `Filter "${named(at)}": ${reason}`;
  return new AppError('INVALID_FILTER', message, { errors: [{ field: named(at), message }] });
};

/** A pattern as sent. Throws 400 `INVALID_REGEX` if it is too long, empty or contains a NUL. */
export const requirePattern = (at: string, text: string): string => {
  const length = [...text].length;
  if (length > 0 && length <= maxPattern && !text.includes('\0')) return text;
  const reason = text.includes('\0') ? 'contains a NUL character' : `must have 1 to ${maxPattern} characters`;
  const message = `Filter "${named(at)}": the regular expression ${reason}.`;
  throw new AppError('INVALID_REGEX', message, { errors: [{ field: named(at), message }] });
};

/** A text to find literally. */
export const requireLiteral = (at: string, text: string): string => {
  if (text.length <= maxLiteral) return text;
  throw invalidFilter(at, `the text must have at most ${maxLiteral} characters.`);
};

/** The stored form of a JSON value. In a condition a number is not a date. */
const storedForm = (type: ScalarType, value: unknown): unknown =>
  type === 'Date' && typeof value !== 'string' ? undefined : scalarRules[type].fromJson(value);

const described = (type: ScalarType): string =>
  type === 'Date' ? 'an ISO 8601 date, as a text' : scalarRules[type].described;

/**
 * The stored form of a JSON value by the field's type, if it has one. Throws 400 `INVALID_FILTER` for lists, objects
 * and values of another type; `null` fits every type.
 */
export const conditionValue = (type: FieldType | undefined, value: unknown, at: string): unknown => {
  if (typeof value === 'object' && value !== null) {
    throw invalidFilter(
      at,
      'a list or an object cannot be a value here. Use $in for one of several values, $all for all.',
    );
  }
  if (value === null || type === undefined) return value;
  if (!isScalar(type)) {
    throw invalidFilter(
      at,
      `the field is ${withArticle(type)} and cannot equal a single value. Compare one of its fields.`,
    );
  }
  const stored = storedForm(type, value);
  if (stored === undefined) throw invalidFilter(at, `${shown(JSON.stringify(value))} is not ${described(type)}.`);
  return stored;
};

/** The same for a list of at most 1000 values. */
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

/** The fields compared for equality, and those compared in other ways that an index can serve; each once. */
export type ComparedFields = Pick<ListShape, 'equal' | 'range'>;

const equality: ReadonlySet<string> = new Set(['$eq', '$in', '$all']);

type Leaf = Pick<Comparison, 'path' | 'operator'>;

/** The paths of all fields in filters; those of elements follow the path of their array. */
export const pathsOf = (filters: readonly ParsedFilter[], prefix = ''): readonly string[] =>
  filters.flatMap((filter) => {
    if ('all' in filter) return pathsOf(filter.all, prefix);
    if ('any' in filter) return pathsOf(filter.any, prefix);
    if ('not' in filter) return pathsOf([filter.not], prefix);
    const path = prefix + filter.path;
    if (!('element' in filter) || 'length' in filter.element) return [path];
    return pathsOf([filter.element], `${path}.`);
  });

/** The comparisons that hold for every result, and the first alternative among the filters. */
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
 * The compared fields, once for each index that is needed: each branch of an alternative needs its own. The first
 * entry is what all results share if branches differ.
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

/** Fields that cannot be filtered by, because another parameter decides about them. */
const trashFields: ReadonlySet<string> = new Set(['isDeleted', 'deletedAt']);

/**
 * Throws for a name that is not a field or cannot be filtered by. `at` is the caller's spelling; `inElement` is true
 * for a field of an array element, which may have any name.
 */
export const requireFilterPath = (at: string, path: string, inElement = false): void => {
  if (!isFieldPath(path)) throw invalidFilter(at, 'this is not a field name.');
  if (inElement) return;
  if (isHiddenPath(path)) throw invalidFilter(at, 'documents cannot be filtered by it.');
  if (trashFields.has(path.split('.')[0] ?? '')) {
    throw invalidFilter(at, 'documents cannot be filtered by it. Use include_deleted=true to see the trash.');
  }
};

/** The type of the values at a path: for an array that of its elements, since one is enough. `undefined` means any. */
export const comparedTypeAt = (collection: Collection, path: string): FieldType | undefined => {
  const at = typeAt(collection, path);
  const type = at?.type === 'Array' ? at.items?.type : at?.type;
  return type === 'Array' ? undefined : type;
};

/** Whether any text is a value of a type: `null` too, and whatever patterns match. */
export const isText = (type: FieldType): boolean => type === 'String';

/** Throws if a text operator is used on a field that is not text. `operator` is the caller's spelling. */
export const requireText = (at: string, operator: string, type: FieldType | undefined): void => {
  if (type === undefined || isText(type)) return;
  throw invalidFilter(at, `${operator} works on text; this is ${withArticle(type)}.`);
};
