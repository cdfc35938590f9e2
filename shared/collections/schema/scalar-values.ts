import { parseDate } from '../../core/date-value.ts';
import { idOf } from '../../core/id-of.ts';
import type { ScalarType } from './field-types.ts';

/** How values of a type are read; each reader returns `undefined` for what is no value of the type. */
interface ScalarRules {
  /** Its stored form, from a JSON value. */
  readonly fromJson: (value: unknown) => unknown;
  /** What a filter compares with, from the text of a query. */
  readonly fromText: (text: string) => unknown;
  /** What `fromText` takes, for people. */
  readonly described: string;
  /** Its JSON value, from the text of a cell of a CSV file. */
  readonly fromCell: (cell: string) => unknown;
}

const numberOf = (text: string): number | undefined => {
  const value = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
};

const numberInCell = (cell: string): number | undefined => numberOf(cell.trim().replace(/^\+/, ''));

/** `true` or `false`, in any case, since languages write them in several; `undefined` for any other text. */
export const booleanOf = (text: string): boolean | undefined =>
  /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;

/** Four digits are meant as a year, which is no day: as milliseconds they would be in the first seconds of 1970. */
const dateOf = (text: string): Date | undefined =>
  /^\d{4}$/.test(text) ? undefined : (parseDate(text) ?? parseDate(numberOf(text)));

const asIs = (text: string): string => text;

/** How values of each type are read, from bodies, filters and files (contract 2, "Field rules" and "Filter values"). */
export const scalarRules: Readonly<Record<ScalarType, ScalarRules>> = {
  String: {
    fromJson: (value) => (typeof value === 'string' ? value : undefined),
    fromText: asIs,
    described: 'a text',
    fromCell: asIs,
  },
  Number: {
    fromJson: (value) => (typeof value === 'number' ? value : undefined),
    fromText: numberOf,
    described: 'a number',
    fromCell: numberInCell,
  },
  Boolean: {
    fromJson: (value) => (typeof value === 'boolean' ? value : undefined),
    fromText: booleanOf,
    described: 'true or false',
    fromCell: booleanOf,
  },
  Date: {
    fromJson: parseDate,
    fromText: dateOf,
    described: 'an ISO 8601 date, such as 2026-01-31, or whole milliseconds',
    fromCell: asIs,
  },
  Ref: {
    fromJson: idOf,
    fromText: idOf,
    described: 'a document id of 24 hexadecimal characters',
    fromCell: asIs,
  },
};

/** What a text without a type may stand for: itself, `null`, a boolean, or the number of exactly this text. */
export const untypedValues = (text: string): readonly unknown[] => {
  if (text === 'null') return [text, null];
  const isTrue = booleanOf(text);
  if (isTrue !== undefined) return [text, isTrue];
  const value = numberOf(text);
  return value !== undefined && String(value) === text ? [text, value] : [text];
};
