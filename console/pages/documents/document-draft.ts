import { systemFields } from '../../../shared/collections/collection.ts';
import { fieldTypes, withArticle } from '../../../shared/collections/schema/field-types.ts';
import { parseJsonValue } from '../../../shared/core/json.ts';
import { t } from '../../text/words.ts';
import type { ShownField } from './shown-fields.ts';

/** A JSON object, as it came or as it is typed. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** One draft of a document, which is typed field by field or as JSON; neither loses what the other holds. */
export interface Draft {
  /** What it was made from; what differs from it is sent. */
  readonly base: JsonObject;
  /** The last that could be read. */
  readonly value: JsonObject;
  /** What was typed as JSON, word for word; absent where the form was typed in since. */
  readonly json?: string;
  /** Fields that were typed as JSON and that the service keeps itself, so they are not sent. */
  readonly leftOut?: readonly string[];
  /** Why `json` cannot be read. */
  readonly unread?: string;
  /** What was typed into fields of the form, word for word. */
  readonly typed: Readonly<Record<string, string>>;
  /** Why what was typed into a field cannot be read. */
  readonly unreadFields: Readonly<Record<string, string>>;
}

/** What a developer writes of a document: all but what the service keeps. */
const writable = (document: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([key]) => !systemFields.has(key)));

export const draftFrom = (document: JsonObject): Draft => {
  const base = writable(document);
  return { base, value: base, typed: {}, unreadFields: {} };
};

/** A document as people read it. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2);

/** The draft with another text as its JSON. */
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

/** The draft with another value of a field; `undefined` takes it out, or makes it `null` where it was there before. */
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

/** The value of a text that a field of no texts holds; throws why it is none. */
const valueIn = ({ key, type }: ShownField, text: string): unknown => {
  if (type === 'Any') return parseJsonValue(text);
  const json = fieldTypes[type].json.type;
  if (json === 'string') return text;
  if (json === 'boolean') return text === 'true';
  if (json !== 'number') return parseJsonValue(text);
  const value = /^-?[\d.]/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new Error(`${key} must be ${withArticle(type)}`);
  return value;
};

/** The draft with a text in a field of the form. */
export const typeField = (draft: Draft, field: ShownField, text: string): Draft => {
  const { key, type } = field;
  const keep = (next: Draft): Draft => ({ ...next, typed: { ...next.typed, [key]: text } });
  const isNone = text === '' && field.rules?.enum !== undefined && !field.rules.enum.includes('');
  if (type === 'String') return keep(setField(draft, key, isNone ? undefined : text));
  if (text.trim() === '') return keep(setField(draft, key, undefined));
  try {
    return keep(setField(draft, key, valueIn(field, text.trim())));
  } catch (error) {
    // A value of the form is no body.
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^The body\b/, key);
    const { json: _, unread: __, ...rest } = draft;
    return keep({ ...rest, unreadFields: { ...draft.unreadFields, [key]: reason } });
  }
};

/** What stands in a field of the form. */
export const textOf = ({ value, typed }: Draft, { key, type }: ShownField): string => {
  const said = typed[key];
  if (said !== undefined) return said;
  const now = value[key];
  if (now === undefined || now === null) return '';
  if (typeof now === 'string' && type !== 'Object' && type !== 'Array') return now;
  return jsonText(now);
};

/** What stands on the other tab. */
export const jsonOf = ({ value, json }: Draft): string => json ?? jsonText(value);

/** One field that differs; `removed` where the new one lacks it. */
export interface Change {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly removed: boolean;
}

/** The paths of what was sent and that the stored document does not have; a dotted key is a path itself. */
const missingIn = (sent: unknown, stored: unknown, path: readonly string[] = []): readonly string[] => {
  if (typeof sent !== 'object' || sent === null) return [];
  const there: JsonObject = typeof stored === 'object' && stored !== null ? (stored as JsonObject) : {};
  return Object.entries(sent).flatMap(([key, value]) => {
    if (Object.hasOwn(there, key)) return missingIn(value, there[key], [...path, key]);
    return key.includes('.') ? [] : [[...path, key].join('.')];
  });
};

/** What was typed and is not in the document as it was stored: fields whose names the service ignores. */
export const notStored = ({ leftOut = [] }: Draft, sent: JsonObject, stored: JsonObject): readonly string[] => [
  ...leftOut,
  ...missingIn(sent, stored),
];

/** What an update of the document changes, in its order. */
export const changesOf = ({ base, value }: Draft): readonly Change[] =>
  [...new Set([...Object.keys(base), ...Object.keys(value)])].flatMap((key) => {
    const [before, after] = [base[key], value[key]];
    if (before === after || JSON.stringify(before) === JSON.stringify(after)) return [];
    return [{ key, before, after, removed: !Object.hasOwn(value, key) }];
  });

/** An earlier draft over the document as it is now: only what was typed differs from the document. */
export const onBase = (earlier: Draft, base: JsonObject): Draft => {
  if (JSON.stringify(earlier.base) === JSON.stringify(base)) return { ...earlier, base };
  const changes = changesOf(earlier);
  const removed = new Set(changes.filter((change) => change.removed).map(({ key }) => key));
  const kept = Object.entries(base).filter(([key]) => !removed.has(key));
  const typed = changes.filter(({ key }) => !removed.has(key)).map(({ key, after }) => [key, after] as const);
  const value = Object.fromEntries([...kept, ...typed]);
  // The text of the whole document would hold the fields of the older one.
  return { base, value, typed: earlier.typed, unreadFields: earlier.unreadFields };
};
