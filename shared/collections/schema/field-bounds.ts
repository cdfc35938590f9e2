import { memoizeByObject } from '../../core/cache.ts';
import { linearPattern } from '../../core/linear-pattern.ts';
import { addressPattern, isAddress, maxAddressLength } from '../../core/schemas.ts';
import { cutText } from '../../core/text.ts';
import type { FieldType } from './field-types.ts';

const urlCharacters = "[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2}";
const urlHost = '[A-Za-z0-9._~-]+|\\[[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*\\]';
/** RFC 3986; other characters are percent-encoded, other host names Punycode, as browsers copy them. */
const urlPattern = `^[Hh][Tt][Tt][Pp][Ss]?://(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?(?:${urlHost})(?::[0-9]{1,5})?(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(?:\\?(?:${urlCharacters})*)?(?:#(?:${urlCharacters})*)?$`;

/** One rule for JSON Schema and for MongoDB. */
interface TextFormatRules {
  readonly described: string;
  readonly json: { readonly format: string; readonly pattern: string; readonly maxLength?: number };
  readonly test: () => (text: string) => boolean;
}

export const textFormats = {
  email: {
    described: 'an email address',
    json: { format: 'email', pattern: addressPattern, maxLength: maxAddressLength },
    test: () => isAddress,
  },
  url: {
    described: 'an absolute URL that begins with http:// or https://',
    json: { format: 'uri', pattern: urlPattern },
    test: () => linearPattern(urlPattern).test,
  },
} as const satisfies Readonly<Record<string, TextFormatRules>>;

type TextFormat = keyof typeof textFormats;

export const textFormatNames = Object.keys(textFormats) as readonly TextFormat[];

export interface Bounds {
  readonly enum?: readonly (string | number)[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: TextFormat;
  readonly min?: number;
  readonly max?: number;
  readonly integer?: true;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: true;
}

export type BoundName = keyof Bounds;

export const boundTypes: Readonly<Record<BoundName, readonly FieldType[]>> = {
  enum: ['String', 'Number'],
  minLength: ['String'],
  maxLength: ['String'],
  pattern: ['String'],
  format: ['String'],
  min: ['Number'],
  max: ['Number'],
  integer: ['Number'],
  minItems: ['Array'],
  maxItems: ['Array'],
  uniqueItems: ['Array'],
};

export const boundNames = Object.keys(boundTypes) as readonly BoundName[];

export const boundsIn = (value: Bounds): readonly BoundName[] => boundNames.filter((name) => value[name] !== undefined);

type JsonKeywords = Readonly<Record<string, unknown>>;

const jsonOf: { readonly [Name in BoundName]: (bound: NonNullable<Bounds[Name]>) => JsonKeywords } = {
  enum: (values) => ({ enum: values }),
  minLength: (minLength) => ({ minLength }),
  maxLength: (maxLength) => ({ maxLength }),
  pattern: (pattern) => ({ pattern }),
  format: (format) => textFormats[format].json,
  min: (minimum) => ({ minimum }),
  max: (maximum) => ({ maximum }),
  integer: () => ({ type: 'integer' }),
  minItems: (minItems) => ({ minItems }),
  maxItems: (maxItems) => ({ maxItems }),
  uniqueItems: () => ({ uniqueItems: true }),
};

/** As JSON Schema keywords; a keyword that would occur twice goes into `allOf`. */
export const boundKeywords = (bounds: Bounds): JsonKeywords => {
  const all: Record<string, unknown> = {};
  const again: JsonKeywords[] = [];
  for (const name of boundsIn(bounds)) {
    const keywords = (jsonOf[name] as (bound: unknown) => JsonKeywords)(bounds[name]);
    if (Object.keys(keywords).some((keyword) => keyword in all)) again.push(keywords);
    else Object.assign(all, keywords);
  }
  return again.length > 0 ? { ...all, allOf: again } : all;
};

const plural = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

const messages: { readonly [Name in BoundName]: (bound: NonNullable<Bounds[Name]>) => string } = {
  enum: (values) => `must be one of ${cutText(values.map((value) => JSON.stringify(value)).join(', '), 300, '…')}`,
  minLength: (least) => `must have at least ${plural(least, 'character')}`,
  maxLength: (most) => `must have at most ${plural(most, 'character')}`,
  pattern: (pattern) => `must match the pattern ${pattern}`,
  format: (format) => `must be ${textFormats[format].described}`,
  min: (least) => `must be at least ${least}`,
  max: (most) => `must be at most ${most}`,
  integer: () => 'must be a whole number',
  minItems: (least) => `must have at least ${plural(least, 'element')}`,
  maxItems: (most) => `must have at most ${plural(most, 'element')}`,
  uniqueItems: () => 'must not have the same element twice',
};

export const boundMessage = (bounds: Bounds, name: BoundName): string =>
  (messages[name] as (bound: unknown) => string)(bounds[name]);

const lengthOf = (text: string): number => {
  let length = 0;
  for (const _point of text) length += 1;
  return length;
};

/** A text has at least half as many characters as UTF-16 units, so most need no counting. */
const hasAtLeast = (text: string, least: number): boolean =>
  text.length >= least && (text.length >= 2 * least || lengthOf(text) >= least);
const hasAtMost = (text: string, most: number): boolean =>
  text.length <= most || (text.length <= 2 * most && lengthOf(text) <= most);

/** Equal for equal JSON values, whatever the order of names. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && Object.getPrototypeOf(inner) === Object.prototype
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );

const areUnique = (elements: readonly unknown[]): boolean => new Set(elements.map(canonical)).size === elements.length;

type Test = (value: never) => boolean;

const tests: { readonly [Name in BoundName]: (bound: NonNullable<Bounds[Name]>) => Test } = {
  enum: (values) => {
    const allowed: ReadonlySet<unknown> = new Set(values);
    return (value) => allowed.has(value);
  },
  minLength: (least) => (text: string) => hasAtLeast(text, least),
  maxLength: (most) => (text: string) => hasAtMost(text, most),
  pattern: (source) => linearPattern(source).test,
  format: (format) => textFormats[format].test(),
  min: (least) => (value: number) => value >= least,
  max: (most) => (value: number) => value <= most,
  integer: () => (value: number) => Number.isInteger(value),
  minItems: (least) => (elements: readonly unknown[]) => elements.length >= least,
  maxItems: (most) => (elements: readonly unknown[]) => elements.length <= most,
  uniqueItems: () => areUnique,
};

interface Check {
  readonly name: BoundName;
  readonly test: (value: unknown) => boolean;
}

const checksOf = memoizeByObject((bounds: Bounds): readonly Check[] =>
  boundsIn(bounds).map((name) => ({
    name,
    test: (tests[name] as (bound: unknown) => Check['test'])(bounds[name]),
  })),
);

/** Returns the first broken bound as text that follows the path; `undefined` if there is none. */
export const brokenBound = (bounds: Bounds, value: unknown): string | undefined => {
  for (const { name, test } of checksOf(bounds)) if (!test(value)) return boundMessage(bounds, name);
  return undefined;
};
