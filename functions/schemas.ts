import * as v from 'valibot';
import { isPlainObject } from '../shared/core/json.ts';

/** Rejects arrays and scalars, which valibot's `record` accepts. */
export const JsonObject = v.custom<Record<string, unknown>>(isPlainObject, 'The body must be a JSON object.');

/** The domain checks the length. */
export const JsonObjects = v.pipe(
  v.custom<Record<string, unknown>[]>(
    (value) => Array.isArray(value) && value.every(isPlainObject),
    'The body must be a JSON array of objects.',
  ),
  v.metadata({ minItems: 1, maxItems: 100 }),
);

/** Rejects other fields. */
export const strictBody = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(v.custom<Record<string, unknown>>(isPlainObject, 'The body must be a JSON object.'), v.strictObject(entries));

export const success = <const S extends v.GenericSchema>(data: S) =>
  v.object({ success: v.literal(true), data, message: v.string() });

export const IdAnswer = success(v.object({ _id: v.string() }));

/** Without `data`, which clients would take for a result. */
export const DoneAnswer = v.object({ success: v.literal(true), message: v.string() });

export const Redirect = v.literal('');
