import * as v from 'valibot';
import { isPlainObject } from '../../core/json.ts';
import { patternProblem } from '../../core/linear-pattern.ts';
import { schemaError } from '../names.ts';
import { type BoundName, type Bounds, boundNames, boundTypes, brokenBound, textFormatNames } from './field-bounds.ts';
import { type FieldType, withArticle } from './field-types.ts';

const maxEnum = 100;
const maxPattern = 128;

const count = (name: string) => {
  const message = `needs a whole number of at least 0 as ${name}`;
  return v.optional(v.nullable(v.pipe(v.number(message), v.safeInteger(message), v.minValue(0, message))));
};
const limit = (name: string) =>
  v.optional(v.nullable(v.pipe(v.number(`needs a number as ${name}`), v.finite(`needs a number as ${name}`))));
const flag = (name: string) => v.optional(v.nullable(v.boolean(`must have true or false as ${name}`)));
const formats = `must have one of ${textFormatNames.join(', ')} as format`;

/** As sent; `null` means omitted. */
export const boundShapes = {
  enum: v.optional(v.nullable(v.array(v.unknown(), 'needs a list as enum'))),
  minLength: count('minLength'),
  maxLength: count('maxLength'),
  pattern: v.optional(v.nullable(v.string('needs a text as pattern'))),
  format: v.optional(v.nullable(v.picklist(textFormatNames, formats))),
  min: limit('min'),
  max: limit('max'),
  integer: flag('integer'),
  minItems: count('minItems'),
  maxItems: count('maxItems'),
  uniqueItems: flag('uniqueItems'),
} satisfies Record<BoundName, v.GenericSchema>;

type RawBounds = { readonly [Name in BoundName]?: unknown };

const pairs = [
  ['minLength', 'maxLength'],
  ['min', 'max'],
  ['minItems', 'maxItems'],
] as const;

const requireEnum = (values: readonly unknown[], type: FieldType, path: string): void => {
  if (values.length === 0 || values.length > maxEnum) throw schemaError(path, `needs 1 to ${maxEnum} values as enum`);
  const wanted = type === 'Number' ? 'number' : 'string';
  if (values.some((value) => typeof value !== wanted || !(wanted === 'string' || Number.isFinite(value)))) {
    throw schemaError(path, `has an enum with a value that is not a ${type}`);
  }
  if (new Set(values).size < values.length) throw schemaError(path, 'has the same value in enum twice');
};

const requirePattern = (pattern: string, path: string): void => {
  const length = [...pattern].length;
  if (length === 0 || length > maxPattern) throw schemaError(path, `needs 1 to ${maxPattern} characters as pattern`);
  if (pattern.includes('\0')) throw schemaError(path, 'has a pattern with a NUL character');
  const problem = patternProblem(pattern);
  if (problem) throw schemaError(path, `has a pattern that ${problem}`);
};

/** Throws 400 `INVALID_SCHEMA` for options that the type lacks, crossed bounds, and invalid patterns. */
export const parseBounds = (raw: RawBounds, type: FieldType, path: string): Bounds => {
  const names = boundNames.filter((name) => raw[name] != null && raw[name] !== false);
  if (names.length === 0) return {};
  for (const name of names) {
    const takers = boundTypes[name];
    if (!takers.includes(type))
      throw schemaError(path, `has ${name}, which only ${takers.map(withArticle).join(' or ')} may have`);
  }
  const bounds = Object.fromEntries(names.map((name) => [name, raw[name]])) as Bounds;
  if (bounds.enum) requireEnum(bounds.enum, type, path);
  if (bounds.pattern !== undefined) requirePattern(bounds.pattern, path);
  for (const [lower, upper] of pairs) {
    if ((bounds[lower] ?? 0) > (bounds[upper] ?? Number.POSITIVE_INFINITY) && bounds[lower] !== undefined) {
      throw schemaError(path, `has a ${lower} above its ${upper}`);
    }
  }
  const { integer, min, max } = bounds;
  if (integer && min !== undefined && max !== undefined && Math.ceil(min) > max) {
    throw schemaError(path, 'has no whole number between its min and its max');
  }
  return bounds;
};

/** Throws 400 `INVALID_SCHEMA` if a default violates its field's bounds. */
export const requireDefaultInBounds = (bounds: Bounds, value: unknown, path: string): void => {
  const broken = brokenBound(bounds, value);
  if (broken) throw schemaError(path, `has a default outside its bounds: it ${broken}`);
};

const maxPatterns = 100;

const countPatterns = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce<number>((count, each) => count + countPatterns(each), 0);
  if (!isPlainObject(value)) return 0;
  return (typeof value.pattern === 'string' ? 1 : 0) + countPatterns(value.items) + countPatterns(value.fields);
};

/** Throws 400 `INVALID_SCHEMA` for too many patterns: each takes milliseconds to check. */
export const requireFewPatterns = (schema: readonly unknown[]): void => {
  if (countPatterns(schema) > maxPatterns) throw schemaError('', `schema has more than ${maxPatterns} patterns`);
};
