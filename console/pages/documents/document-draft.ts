import { systemFields } from '../../../shared/collections/collection.ts';
import { fieldTypes, withArticle } from '../../../shared/collections/schema/field-types.ts';
import { parseJsonValue } from '../../../shared/core/json.ts';
import { plainNumber } from '../../../shared/transfers/csv-format.ts';
import { t } from '../../text/words.ts';
import type { ShownField } from './shown-fields.ts';

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A draft of a document, edited as a form or as JSON. Switching between them loses nothing. */
export interface Draft {
  /** The document that it started from. Only differences are sent. */
  readonly base: JsonObject;
  /** The last valid value. */
  readonly value: JsonObject;
  /** The typed JSON, word for word; absent after a change in the form. */
  readonly json?: string;
  /** System fields in the typed JSON, which are not sent. */
  readonly leftOut?: readonly string[];
  /** Why `json` is not valid. */
  readonly unread?: string;
  /** The typed texts of form fields, word for word. */
  readonly typed: Readonly<Record<string, string>>;
  /** Why the text of a field is not valid. */
  readonly unreadFields: Readonly<Record<string, string>>;
}

/** The writable fields of a document. */
const writable = (document: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([key]) => !systemFields.has(key)));

export const draftFrom = (document: JsonObject): Draft => {
  const base = writable(document);
  return { base, value: base, typed: {}, unreadFields: {} };
};

export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);

export const typeJson = ({ base, value }: Draft, json: string): Draft => {
  const next = { base, json, typed: {}, unreadFields: {} };
  try {
    const parsed = parseJsonValue(json);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? {
          ...next,
          value: writable(parsed as JsonObject),
          leftOut: Object.keys(parsed).filter((key) => systemFields.has(key)),
        }
      : { ...next, value, unread: t.documents.notAnObject };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...next, value, unread: reason.replace(/^The body\b/, t.documents.document) };
  }
};

const without = <T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));

/** Sets a field of the draft. `undefined` removes it, or makes it `null` if the document already had it. */
export const setField = (
  { base, value, typed, unreadFields, leftOut = [] }: Draft,
  key: string,
  to: unknown,
): Draft => {
  const cleared = to === undefined && Object.hasOwn(base, key) ? null : to;
  return {
    base,
    value: cleared === undefined ? without(value, key) : { ...value, [key]: cleared },
    typed: without(typed, key),
    unreadFields: without(unreadFields, key),
    leftOut,
  };
};

/** Parses the text of a field that is not a String. Throws if it is not valid. */
const valueIn = ({ key, type }: ShownField, text: string): unknown => {
  if (type === 'Any') return parseJsonValue(text);
  const json = fieldTypes[type].json.type;
  if (json === 'string') return text;
  if (json === 'boolean') return text === 'true';
  if (json !== 'number') return parseJsonValue(text);
  // Read like a cell of a file with tabs, in which 2,5 has a decimal comma.
  const plain = plainNumber(key, text, '\t');
  const value = /^-?[\d.]/.test(plain) ? Number(plain) : Number.NaN;
  if (!Number.isFinite(value)) throw new Error(`${key} must be ${withArticle(type)}, for example 2.5`);
  return value;
};

export const typeField = (draft: Draft, field: ShownField, text: string): Draft => {
  const { key, type } = field;
  const keep = (next: Draft): Draft => ({ ...next, typed: { ...next.typed, [key]: text } });
  const isNone = text === '' && field.rules?.enum !== undefined && !field.rules.enum.includes('');
  if (type === 'String') return keep(setField(draft, key, isNone ? undefined : text));
  if (text.trim() === '') return keep(setField(draft, key, undefined));
  try {
    return keep(setField(draft, key, valueIn(field, text.trim())));
  } catch (error) {
    // The value of a field is not a body.
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^The body\b/, key);
    const { json: _, unread: __, ...rest } = draft;
    return keep({ ...rest, unreadFields: { ...draft.unreadFields, [key]: reason } });
  }
};

/** The text in a form field. */
export const textOf = ({ value, typed }: Draft, { key, type }: ShownField): string => {
  const said = typed[key];
  if (said !== undefined) return said;
  const now = value[key];
  if (now === undefined || now === null) return '';
  if (typeof now === 'string' && type !== 'Object' && type !== 'Array') return now;
  return jsonText(now);
};

/** The text on the JSON tab. */
export const jsonOf = ({ value, json }: Draft): string => json ?? jsonText(value);

/** A field that differs; `removed` if the new document lacks it. */
export interface Change {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly removed: boolean;
}

/** The paths of the sent body that the stored document does not have. A dotted key is a path itself. */
const missingIn = (sent: unknown, stored: unknown, path: readonly string[] = []): readonly string[] => {
  if (typeof sent !== 'object' || sent === null) return [];
  const there: JsonObject = typeof stored === 'object' && stored !== null ? (stored as JsonObject) : {};
  return Object.entries(sent).flatMap(([key, value]) => {
    if (Object.hasOwn(there, key)) return missingIn(value, there[key], [...path, key]);
    return key.includes('.') ? [] : [[...path, key].join('.')];
  });
};

/** The sent fields that were not stored, because the service ignores their names. */
export const notStored = ({ leftOut = [] }: Draft, sent: JsonObject, stored: JsonObject): readonly string[] => [
  ...leftOut,
  ...missingIn(sent, stored),
];

/** The changes of an update, in order. */
export const changesOf = ({ base, value }: Draft): readonly Change[] =>
  [...new Set([...Object.keys(base), ...Object.keys(value)])].flatMap((key) => {
    const [before, after] = [base[key], value[key]];
    if (before === after || JSON.stringify(before) === JSON.stringify(after)) return [];
    return [{ key, before, after, removed: !Object.hasOwn(value, key) }];
  });

/** Applies an earlier draft to the current document: only the edited fields differ. */
export const onBase = (earlier: Draft, base: JsonObject): Draft => {
  if (JSON.stringify(earlier.base) === JSON.stringify(base)) return { ...earlier, base };
  const changes = changesOf(earlier);
  const removed = new Set(changes.filter((change) => change.removed).map(({ key }) => key));
  const kept = Object.entries(base).filter(([key]) => !removed.has(key));
  const typed = changes.filter(({ key }) => !removed.has(key)).map(({ key, after }) => [key, after] as const);
  const value = Object.fromEntries([...kept, ...typed]);
  // The text of the whole document would contain outdated fields.
  return { base, value, typed: earlier.typed, unreadFields: earlier.unreadFields };
};
