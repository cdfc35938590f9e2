import * as v from 'valibot';
import { isPlainObject } from '../core/json-value.ts';

export const textOrNull = v.string('must be a String or null');

export const atMost = (characters: number) =>
  v.maxLength<string, number, string>(characters, `must have at most ${characters} characters`);

export const flag = v.boolean('must be a Boolean');

/** An object with no other fields than these; valibot's own check lets arrays through. */
export const exactObject = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(v.custom<Record<string, unknown>>(isPlainObject, 'must be an Object'), v.strictObject(entries));
