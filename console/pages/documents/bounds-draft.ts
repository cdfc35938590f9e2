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

/** The bounds of a field as typed: one text each, `enum` with one value per line, `true` for those without a value. */
export type BoundsDraft = { readonly [Name in BoundName]?: string };

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

export const boundsOfType = (type: FieldType): readonly BoundName[] =>
  boundNames.filter((name) => boundTypes[name].includes(type));

/** A value that cannot stand on a line of its own. All values are then typed as JSON. */
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

/** The number of bounds that are set and that the type allows. */
export const countBounds = (type: FieldType, draft: BoundsDraft): number =>
  boundsOfType(type).filter((name) => (draft[name] ?? '') !== '').length;

/** The requirements of a value in words, except those that the form shows as choices. */
export const boundHints = (bounds: Bounds): readonly string[] =>
  boundsIn(bounds).flatMap((name) => (name === 'enum' ? [] : [boundMessage(bounds, name)]));

/**
 * The `maxlength` of a text field, which browsers count in UTF-16 units: the bound plus one for each character of
 * two units, and one for the next character.
 */
export const unitsFor = (text: string, maxLength: number): number => {
  const extra = text.length - [...text].length;
  return Math.max(2, maxLength + extra);
};
