import {
  type BoundName,
  type Bounds,
  boundMessage,
  boundNames,
  boundsIn,
  boundTypes,
} from '../../../shared/collections/schema/field-bounds.ts';
import { t } from '../../text/words.ts';
import type { FieldType } from './schema-draft.ts';

/** The bounds of a field as they are typed: a text each, of `enum` one value a line; `true` for those without a value. */
export type BoundsDraft = { readonly [Name in BoundName]?: string };

/** How each bound is typed. */
export const boundInputs: Readonly<Record<BoundName, 'lines' | 'count' | 'number' | 'text' | 'format' | 'flag'>> = {
  enum: 'lines',
  minLength: 'count',
  maxLength: 'count',
  pattern: 'text',
  format: 'format',
  min: 'number',
  max: 'number',
  integer: 'flag',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'flag',
};

export const isBound = (name: string): boolean => boundNames.some((bound) => bound === name);

/** The bounds that a field of a type can have. */
export const boundsOfType = (type: FieldType): readonly BoundName[] =>
  boundNames.filter((name) => boundTypes[name].includes(type));

/** A value that is no line of its own, so that all are typed as JSON. */
const isOdd = (value: unknown): boolean => value === '' || /^\s*\[|\n/.test(String(value));

const textOf = (value: unknown): string => {
  if (!Array.isArray(value)) return String(value);
  return value.some(isOdd) ? JSON.stringify(value) : value.join('\n');
};

export const boundsDraftOf = (bounds: Bounds): BoundsDraft =>
  Object.fromEntries(boundsIn(bounds).map((name) => [name, textOf(bounds[name])]));

const numberIn = (key: string, name: BoundName, text: string): number => {
  const number = Number(text.trim());
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new Error(t.schema.wrongBound(key, t.schema.bounds[name], text.trim()));
};

const listIn = (text: string): readonly unknown[] | undefined => {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
};

const valueIn = (key: string, type: FieldType, name: BoundName, text: string): unknown => {
  switch (boundInputs[name]) {
    case 'lines': {
      const list = text.trim().startsWith('[') ? listIn(text) : undefined;
      if (list) return list;
      const lines = text.split('\n').filter((line) => line !== '');
      return type === 'Number' ? lines.map((line) => numberIn(key, name, line)) : lines;
    }
    case 'count':
    case 'number':
      return numberIn(key, name, text);
    case 'flag':
      return text === 'true';
    default:
      return text;
  }
};

/** The bounds to send. Throws if the text of a number is not a number. */
export const boundsFrom = (key: string, type: FieldType, draft: BoundsDraft): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    boundsOfType(type).flatMap((name) => {
      const text = draft[name] ?? '';
      return text === '' ? [] : [[name, valueIn(key, type, name, text)]];
    }),
  );

/** How many bounds are typed that a type can have. */
export const countBounds = (type: FieldType, draft: BoundsDraft): number =>
  boundsOfType(type).filter((name) => (draft[name] ?? '') !== '').length;

/** What a value must be like, in words, but for what a form shows as a choice. */
export const boundHints = (bounds: Bounds): readonly string[] =>
  boundsIn(bounds).flatMap((name) => (name === 'enum' ? [] : [boundMessage(bounds, name)]));

/**
 * How many UTF-16 units a text field takes, so that the bound counts characters: as many more as the text has of two
 * units, and one for the next.
 */
export const unitsFor = (text: string, maxLength: number): number => {
  const extra = text.length - [...text].length;
  return Math.max(2, maxLength + extra);
};
