import { BSON } from 'mongodb';
import { systemFields } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import type { JsonObject } from '../document.ts';
import { answerPerBson, maxPageBytes, measured } from '../page-size.ts';
import { isJsonObject } from '../values.ts';
import type { Guard } from './guarded-write.ts';

const refuse = (path: string, reason: string): never => {
  const field = cutText(path.replaceAll('\0', '\\0'), 200);
  throw new AppError('INVALID_BODY', `The field name "${field}" ${reason}.`, {
    errors: [{ field, message: reason }],
  });
};

/** The driver would read such an object as a reference and split its `$ref`. */
const changesWhenRead = (object: JsonObject): boolean =>
  Object.hasOwn(object, '$id') &&
  object.$id !== null &&
  Object.hasOwn(object, '$ref') &&
  typeof object.$ref === 'string' &&
  object.$ref.split('.').length === 2;

export const requireName = (name: string, path: string): void => {
  if (name === '') refuse(path, 'is empty, or ends with an empty name');
  if (name.includes('\0')) refuse(path, 'contains a NUL character');
};

export const requireNames = (value: unknown, path: string): void => {
  if (Array.isArray(value)) {
    value.forEach((element, position) => {
      if (typeof element === 'object') requireNames(element, `${path}.${position}`);
    });
  } else if (isJsonObject(value)) {
    if (changesWhenRead(value)) refuse(`${path}.$ref`, 'holds a database reference with a dot, which cannot be stored');
    for (const [name, inner] of Object.entries(value)) {
      const innerPath = `${path}.${name}`;
      requireName(name, innerPath);
      if (name.includes('.')) refuse(innerPath, 'contains a dot, which separates the names of a path');
      if (typeof inner === 'object') requireNames(inner, innerPath);
    }
  }
};

/** `_id`, `deletedAt.x`: published clients send whole documents back. */
export const isIgnored = (key: string): boolean => systemFields.has(key.split('.', 1)[0] ?? '');

/** Throws 400 `INVALID_BODY` if a top-level name of a body begins with `$`. */
export const refuseOperators = (body: JsonObject): void => {
  const operator = Object.keys(body).find((key) => key.startsWith('$'));
  if (operator !== undefined) refuse(operator, 'begins with $, which no field of a document may');
};

const sanitized = (body: JsonObject, dotted: boolean): JsonObject => {
  if (!dotted) refuseOperators(body);
  const kept = Object.entries(body).filter(([key]) => !isIgnored(key) && !key.startsWith('$'));
  for (const [key, value] of kept) {
    requireName(key, key);
    if (!dotted && key.includes('.')) refuse(key, 'contains a dot, which separates the names of a path');
    requireNames(value, key);
  }
  return kept.length === Object.keys(body).length ? body : Object.fromEntries(kept);
};

/**
 * The fields of a new document, without system fields, which are ignored. Throws 400 `INVALID_BODY` naming a top-
 * level `$` name, a dot in a name at any depth, an empty name or a NUL. Contract 2, "Insert".
 */
export const sanitizeInsert = (body: JsonObject): JsonObject => sanitized(body, false);

/**
 * The same for an update, whose top-level keys may be dotted paths. Keys that begin with `$` are left to the
 * operators.
 */
export const sanitizeUpdate = (body: JsonObject): JsonObject => sanitized(body, true);

/** The maximum size of a document in bytes of BSON (contract 2, "Insert"). */
export const maxDocumentBytes = 4 * 1024 * 1024;

/** The error of a document that is or would become too large (413). */
export const documentTooLarge = (): AppError =>
  new AppError(
    'DOCUMENT_TOO_LARGE',
    'The document would be larger than 4 MiB, or than 5 MiB of JSON (each quote and backslash counts twice). Split it into several documents.',
  );

/** The bytes of BSON of a JSON object. */
export const sizeOf = (object: JsonObject): number => BSON.calculateObjectSize(object);

/** The maximum that a write adds to a document, in bytes of BSON and of a response. */
interface Added {
  readonly stored: number;
  readonly answered: number;
}

/** A write that does not change the size, such as a recovery from the trash. */
export const nothingAdded: Added = { stored: 0, answered: 0 };

/** Up to this many bytes of BSON an upper bound is used instead of measuring. */
const worthMeasuring = 16 * 1024;

/** What setting the fields of an object adds. Throws 413 if it is too large for any document. */
export const addedBy = (object: JsonObject): Added => {
  const stored = sizeOf(object);
  if (stored > maxDocumentBytes) throw documentTooLarge();
  return { stored, answered: stored < worthMeasuring ? stored * answerPerBson : measured(object) };
};

/** The growth for which a document must have room: later updates up to this total are not measured. */
export const unmeasuredGrowth = 62 * 4096;

/** Whether a document of `bytes` bytes of BSON has room for an addition. */
const fits = (document: JsonObject, bytes: number, { stored, answered }: Added): boolean =>
  bytes + stored <= maxDocumentBytes &&
  (bytes * answerPerBson + answered <= maxPageBytes || measured(document) + answered <= maxPageBytes);

/** Throws 413 for a document that is too large on its own. */
export const requireFit = (document: JsonObject, bytes: number): void => {
  if (!fits(document, bytes, nothingAdded)) throw documentTooLarge();
};

/**
 * The document must have room for an addition. Small documents have it whatever they contain, including the growth
 * of updates that are not measured. Larger ones are read and measured, and must then be unchanged, so that the measure still
 * holds.
 */
export const mustHaveRoom = (added: Added, refusal: () => AppError): Guard => {
  const { stored, answered } = added;
  const most =
    Math.min(maxDocumentBytes - stored, Math.floor((maxPageBytes - answered) / answerPerBson)) - unmeasuredGrowth;
  return {
    filter: { $expr: { $lte: [{ $bsonSize: '$$ROOT' }, most] } },
    leavesRoom: true,
    filterFor: (document, bytes) => ({
      updatedAt: { $eq: document.updatedAt ?? null },
      $expr: { $eq: [{ $bsonSize: '$$ROOT' }, bytes] },
    }),
    refusal: (document, bytes) => (fits(document, bytes, added) ? undefined : refusal()),
  };
};
