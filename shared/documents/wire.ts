import { BSON, Decimal128, Long, MaxKey, MinKey, Timestamp } from 'mongodb';
import { JsonText } from '../core/json.ts';
import { JsonBytes, maxWrittenBytes } from './json-bytes.ts';
import { isJsonObject } from './values.ts';

const { getInt32LE, getFloat64LE } = BSON.onDemand.NumberUtils;
const {
  string: stringType,
  objectId: objectIdType,
  int: intType,
  double: doubleType,
  date: dateType,
  bool: boolType,
  null: nullType,
  object: objectType,
  array: arrayType,
  timestamp: timestampType,
} = BSON.BSONType;

const underscore = 0x5f;
const rev = Buffer.from('_rev');
const pos = Buffer.from('_pos');
const gone = Buffer.from('_gone');
const fuse = Buffer.from('_fuse');
const effects = Buffer.from('_effects');

const isDeleted = Buffer.from('isDeleted');
const deletedAt = Buffer.from('deletedAt');

const isNamed = (bytes: Uint8Array, from: number, to: number, name: Uint8Array): boolean => {
  if (to - from !== name.length) return false;
  for (let index = 0; index < name.length; index += 1) if (bytes[from + index] !== name[index]) return false;
  return true;
};

/** A name that JavaScript objects move to the front, or that makes the object around it a reference. */
const changesObject = (bytes: Uint8Array, from: number, to: number): boolean => {
  if (bytes[from] === 0x24) return true;
  for (let index = from; index < to; index += 1) {
    const byte = bytes[index] as number;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return from < to;
};

/** The JSON of a document, whether it has both trash fields, whether it is in the trash, and its revision. */
export interface WireText {
  readonly json: JsonText;
  readonly revision: number;
  readonly hasState: boolean;
  readonly isTrashed: boolean;
}

/** Writes the JSON of one document, and notes its system fields. */
class DocumentWriter {
  readonly #json = new JsonBytes();
  readonly #showsRevision: boolean;
  /** The number of trash fields found; every document written by the service has both. */
  #states = 0;
  #isTrashed = false;
  #revision = 0;

  constructor(showsRevision: boolean) {
    this.#showsRevision = showsRevision;
  }

  /** `undefined` if something in the document has a special form. */
  write(bytes: Uint8Array): WireText | undefined {
    if (this.#putFields(bytes, 0, false, true) < 0) return undefined;
    return {
      json: new JsonText(this.#json.text()),
      revision: this.#revision,
      hasState: this.#states === 2,
      isTrashed: this.#isTrashed,
    };
  }

  /**
   * Skips a hidden top-level field. Returns the end of its value, 0 for any other field, -1 if the service does not
   * write such a value.
   */
  #passHidden(type: number, bytes: Uint8Array, name: number, end: number): number {
    const from = end + 1;
    if (isNamed(bytes, name, end, rev)) {
      this.#revision = getInt32LE(bytes, from);
      return type === intType && this.#revision >= 0 ? from + 4 : -1;
    }
    if (isNamed(bytes, name, end, pos)) return type === timestampType ? from + 8 : -1;
    if (isNamed(bytes, name, end, fuse)) return type === arrayType ? from + getInt32LE(bytes, from) : -1;
    if (isNamed(bytes, name, end, effects)) return type === objectType ? from + getInt32LE(bytes, from) : -1;
    if (isNamed(bytes, name, end, gone)) return type === boolType ? from + 1 : -1;
    return 0;
  }

  /** Writes a value. Returns its end, or -1 for a value with a special form. */
  #putValue(type: number, bytes: Uint8Array, from: number): number {
    const json = this.#json;
    switch (type) {
      case stringType: {
        const next = from + 4 + getInt32LE(bytes, from);
        json.putString(bytes, from + 4, next - 1);
        return next;
      }
      case objectIdType:
        json.putId(bytes, from);
        return from + 12;
      case intType:
        json.putNumber(getInt32LE(bytes, from));
        return from + 4;
      case doubleType:
        json.putNumber(getFloat64LE(bytes, from));
        return from + 8;
      case dateType:
        json.putDate(bytes, from);
        return from + 8;
      case boolType:
        json.put(bytes[from] === 1 ? 'true' : 'false');
        return from + 1;
      case nullType:
        json.put('null');
        return from;
      case objectType:
      case arrayType:
        return this.#putFields(bytes, from, type === arrayType, false);
      default:
        return -1;
    }
  }

  /** Writes an object or an array. Returns its end, or -1 if something in it has a special form. */
  #putFields(bytes: Uint8Array, from: number, isArray: boolean, isTop: boolean): number {
    const json = this.#json;
    json.putByte(isArray ? 0x5b : 0x7b);
    let at = from + 4;
    let isFirst = true;
    for (let type = bytes[at] as number; type !== 0; type = bytes[at] as number) {
      const name = at + 1;
      at = name;
      while (bytes[at] !== 0) at += 1;
      if (isTop && bytes[name] === underscore) {
        const next = this.#passHidden(type, bytes, name, at);
        if (next < 0) return -1;
        if (next > 0) {
          at = next;
          continue;
        }
      }
      if (!isFirst) json.putByte(0x2c);
      isFirst = false;
      if (!isArray) {
        if (changesObject(bytes, name, at)) return -1;
        if (isTop && isNamed(bytes, name, at, deletedAt)) this.#states += 1;
        if (isTop && isNamed(bytes, name, at, isDeleted)) {
          this.#states += 1;
          this.#isTrashed = type === boolType && bytes[at + 1] === 1;
        }
        json.putString(bytes, name, at);
        json.putByte(0x3a);
      }
      at = this.#putValue(type, bytes, at + 1);
      if (at < 0) return -1;
    }
    if (isTop && this.#showsRevision) {
      json.put(isFirst ? '"_rev":' : ',"_rev":');
      json.putNumber(this.#revision);
    }
    json.putByte(isArray ? 0x5d : 0x7d);
    return at + 1;
  }
}

/**
 * The result of `JSON.stringify(wireDocument(document))`, made directly from the document's bytes and without its
 * hidden fields, for documents as the service writes them. `undefined` for a large one, or one with values that JSON
 * does not have. `withRevision` shows its revision.
 */
export const wireText = (bytes: Uint8Array, withRevision = false): WireText | undefined =>
  bytes.byteLength > maxWrittenBytes ? undefined : new DocumentWriter(withRevision).write(bytes);

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
 * Makes a document that was just read fit for `JSON.stringify`, in place: 64-bit and decimal numbers become the
 * nearest double, patterns and the key bounds something readable. ObjectIds, dates and binary data have their own
 * JSON form; NaN and infinities become `null`.
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
 * A stored value for the driver. An object with its own field `_bsontype`, which only customers' databases can
 * contain, becomes a map of its fields, because the driver would misread it as another type.
 */
export const sendable = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sendable);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sendable(inner)] as const);
  return Object.hasOwn(value, '_bsontype') ? new Map(entries) : Object.fromEntries(entries);
};
