import { BSON } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { maxDepth } from '../../core/json-value.ts';
import { sendable } from '../wire-value.ts';
import { typeOf } from './bson-order.ts';

/** Where a page ended: the sort key of its last document, or that document's id where the key is too long to carry. */
type Position = { readonly values: readonly unknown[] } | { readonly id: unknown };

/** The whole request line is limited, so a cursor may not be long. */
const maxLength = 2048;
const version = 1;

/** The refusal of a cursor (400). */
export const invalidCursor = (): AppError =>
  new AppError(
    'INVALID_CURSOR',
    'The cursor is not one of this list in this order. Pass nextCursor on unchanged, with the same sort, or start again with an empty cursor.',
  );

const carried: ReadonlySet<string> = new Set([
  'undefined',
  'null',
  'number',
  'string',
  'binData',
  'objectId',
  'bool',
  'date',
  'timestamp',
]);

/** Whether a value can travel in a cursor and comes back as a literal that is safe to compare with. */
const canCarry = (value: unknown, depth = 0): boolean => {
  const type = typeOf(value);
  if (carried.has(type)) return !(value instanceof Date) || !Number.isNaN(value.getTime());
  if (depth >= maxDepth) return false;
  if (Array.isArray(value)) return value.every((item) => item !== undefined && canCarry(item, depth + 1));
  if (type !== 'object' || Object.hasOwn(value as object, '_bsontype') || value instanceof BSON.DBRef) return false;
  return Object.entries(value as object).every(([key, item]) => !key.startsWith('$') && canCarry(item, depth + 1));
};

/** The last key of an order is `_id`, which is never missing and never an array. */
const isKey = (values: readonly unknown[]): boolean =>
  !['undefined', 'array'].includes(typeOf(values.at(-1))) && values.every((value) => canCarry(value));

const write = (record: BSON.Document): string => Buffer.from(BSON.serialize(record)).toString('base64url');

/** Opaque, at most 2 KiB; names the document where its sort key is longer. `fingerprint` ties it to its order. */
export const encodeCursor = (fingerprint: string, values: readonly unknown[]): string => {
  const head = { v: version, s: fingerprint };
  const text = isKey(values) ? write({ ...head, k: values.map((value) => (value === undefined ? [] : [value])) }) : '';
  return text !== '' && text.length <= maxLength ? text : write({ ...head, i: sendable(values.at(-1)) });
};

const read = (text: string): BSON.Document | undefined => {
  if (text.length > maxLength || !/^[\w-]+$/.test(text)) return undefined;
  try {
    return BSON.deserialize(Buffer.from(text, 'base64url'));
  } catch {
    return undefined;
  }
};

const unwrap = (list: unknown): readonly unknown[] | undefined => {
  if (!Array.isArray(list) || !list.every((item) => Array.isArray(item) && item.length <= 1)) return undefined;
  return list.map(([value]: unknown[]) => value);
};

/**
 * Reads a cursor that `encodeCursor` wrote for the same fingerprint, of an order with `keys` keys. Anything else,
 * values that could be read as operators included → 400 `INVALID_CURSOR`.
 */
export const decodeCursor = (fingerprint: string, keys: number, text: string): Position => {
  const record = read(text);
  if (record?.v !== version || record.s !== fingerprint) throw invalidCursor();
  if (Object.hasOwn(record, 'i') && isKey([record.i])) return { id: record.i };
  const values = unwrap(record.k);
  if (values?.length !== keys || !isKey(values)) throw invalidCursor();
  return { values };
};
