import { Decimal128, Long, MaxKey, MinKey, Timestamp } from 'mongodb';
import { isJsonObject } from './write/schema-values.ts';

const wireObject = (value: object): unknown => {
  if (Array.isArray(value)) {
    for (let position = 0; position < value.length; position += 1) {
      const element: unknown = value[position];
      if (typeof element === 'object' && element !== null) value[position] = wireObject(element);
    }
    return value;
  }
  if (isJsonObject(value)) return wireDocument(value);
  if (value instanceof Timestamp) return value;
  if (value instanceof Long) return value.toNumber();
  if (value instanceof Decimal128) return Number(value.toString());
  if (value instanceof RegExp) return String(value);
  if (value instanceof MinKey) return { $minKey: 1 };
  return value instanceof MaxKey ? { $maxKey: 1 } : value;
};

/**
 * Makes a document that was just read fit for `JSON.stringify`, in place: 64-bit and decimal numbers become the nearest
 * double, patterns and the key bounds something readable. ObjectIds, dates and binary data have a JSON form of their
 * own; NaN and infinities become `null` there.
 */
export const wireDocument = <T extends Record<string, unknown>>(document: T): T => {
  const fields: Record<string, unknown> = document;
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    if (typeof value === 'object' && value !== null) fields[key] = wireObject(value);
  }
  return document;
};

/**
 * A stored value as the driver takes it: where an object has a field `_bsontype` of its own, which only databases of a
 * project's own can hold, the driver would read it as a type that it is not, so it becomes a map of its fields.
 */
export const sendable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sendable);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sendable(inner)] as const);
  return Object.hasOwn(value, '_bsontype') ? new Map(entries) : Object.fromEntries(entries);
};
