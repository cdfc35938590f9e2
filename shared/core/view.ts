import { ObjectId } from 'mongodb';

type Shown<V> = V extends ObjectId ? string : V extends readonly ObjectId[] ? readonly string[] : V;

/** Fields of a record in responses: ids are 24 hexadecimal characters. */
export type View<R, K extends keyof R> = { readonly [P in K]: Shown<R[P]> };

const shown = (value: unknown): unknown => {
  if (value instanceof ObjectId) return value.toHexString();
  return Array.isArray(value) ? value.map(shown) : value;
};

/** Returns only these fields of a record. */
export const viewOf = <R extends object, K extends keyof R>(record: R, fields: readonly K[]): View<R, K> =>
  Object.fromEntries(fields.map((field) => [field, shown(record[field])])) as View<R, K>;

/** Parses 24 hexadecimal characters; `undefined` for other values. */
export const idOf = (value: unknown): ObjectId | undefined =>
  typeof value === 'string' && /^[0-9a-f]{24}$/i.test(value) ? ObjectId.createFromHexString(value) : undefined;
