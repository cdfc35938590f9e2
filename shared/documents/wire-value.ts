import { Decimal128, Long, MaxKey, MinKey, Timestamp } from 'mongodb';
import type { Project } from '../projects/project.ts';

const wireObject = (value: object): unknown => {
  if (Array.isArray(value)) {
    for (let position = 0; position < value.length; position += 1) {
      const element: unknown = value[position];
      if (typeof element === 'object' && element !== null) value[position] = wireObject(element);
    }
    return value;
  }
  if (Object.getPrototypeOf(value) === Object.prototype) return wireDocument(value as Record<string, unknown>);
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

/** The same for a document that the driver decoded; only documents of a customer's own database can need it. */
export const wireDocumentOf = <T extends Record<string, unknown>>({ placement }: Project, document: T): T =>
  placement.kind === 'managed' ? document : wireDocument(document);
