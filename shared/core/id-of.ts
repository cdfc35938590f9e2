import { ObjectId } from 'mongodb';

/** The id that 24 hexadecimal characters are, in small letters or large; `undefined` for anything else. */
export const idOf = (value: unknown): ObjectId | undefined =>
  typeof value === 'string' && /^[0-9a-f]{24}$/i.test(value) ? ObjectId.createFromHexString(value) : undefined;
