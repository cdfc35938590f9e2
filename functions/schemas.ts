import * as v from 'valibot';
import { isPlainObject } from '../shared/core/json.ts';

/** Any JSON object; arrays and scalars are refused, which valibot's own `record` would let through. */
export const JsonObject = v.custom<Record<string, unknown>>(isPlainObject, 'The body must be a JSON object.');

/** A JSON array of objects; those who read it take 1 to 100. */
export const JsonObjects = v.pipe(
  v.custom<Record<string, unknown>[]>(
    (value) => Array.isArray(value) && value.every(isPlainObject),
    'The body must be a JSON array of objects.',
  ),
  v.metadata({ minItems: 1, maxItems: 100 }),
);

/** A JSON object with exactly these fields; anything else in it is refused. */
export const strictBody = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(v.custom<Record<string, unknown>>(isPlainObject, 'The body must be a JSON object.'), v.strictObject(entries));

/** `{success, data, message}`, the usual success body. */
export const success = <const S extends v.GenericSchema>(data: S) =>
  v.object({ success: v.literal(true), data, message: v.string() });

/** The id of what was made, changed or removed. */
export const IdAnswer = success(v.object({ _id: v.string() }));

/** Nothing but that it was done: clients take any `data` for the answer. */
export const DoneAnswer = v.object({ success: v.literal(true), message: v.string() });

/** A redirect has no body. */
export const Redirect = v.literal('');
