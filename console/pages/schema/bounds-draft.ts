import {
  type BoundName,
  type Bounds,
  boundMessage,
  boundNames,
  boundsIn,
  boundTypes,
} from '../../../shared/collections/schema/field-bounds.ts';
import type { FieldType } from '../../../shared/collections/schema/field-types.ts';

type TextBound = Exclude<BoundName, 'enum'>;

/** The bounds of a field as typed: texts, `true` for those without a value, and the values of `enum` as tags. */
export type BoundsDraft = { readonly [Name in TextBound]?: string } & { readonly enum?: readonly string[] };

export const boundInputs: Readonly<Record<BoundName, 'tags' | 'count' | 'number' | 'text' | 'format' | 'flag'>> = {
  enum: 'tags',
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

export const boundsDraftOf = (bounds: Bounds): BoundsDraft =>
  Object.fromEntries(
    boundsIn(bounds).map((name) => [name, name === 'enum' ? (bounds.enum ?? []).map(String) : String(bounds[name])]),
  );

/** The typed text of a bound; `''` if it is not set. */
export const boundText = (draft: BoundsDraft, name: TextBound): string => draft[name] ?? '';

const numberIn = (text: string): number | undefined => {
  const number = Number(text.trim());
  return text.trim() !== '' && Number.isFinite(number) ? number : undefined;
};

const valueIn = (name: TextBound, text: string): unknown => {
  const input = boundInputs[name];
  if (input === 'flag') return text === 'true';
  return input === 'count' || input === 'number' ? numberIn(text) : text;
};

type Report = (name: BoundName, typed: string) => void;

const enumIn = (type: FieldType, tags: readonly string[], report: Report): readonly unknown[] =>
  type === 'Number'
    ? tags.map((tag) => {
        const number = numberIn(tag);
        if (number === undefined) report('enum', tag);
        return number;
      })
    : tags;

/** The bounds to send. Reports texts that are not numbers. */
export const boundsFrom = (type: FieldType, draft: BoundsDraft, report: Report): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    boundsOfType(type).flatMap((name): (readonly [string, unknown])[] => {
      if (name === 'enum') return draft.enum?.length ? [[name, enumIn(type, draft.enum, report)]] : [];
      const text = boundText(draft, name);
      if (text === '') return [];
      const value = valueIn(name, text);
      if (value === undefined) report(name, text.trim());
      return [[name, value]];
    }),
  );

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
