import * as v from 'valibot';

/**
 * A list of at most so many entries. They are counted before any is looked at, as each that is wrong makes an issue of
 * some hundred bytes, of which a body of 1 MiB could have half a million.
 */
export const listOf = <const S extends v.GenericSchema>(entry: S, most: number, tooMany: string, noList: string) =>
  v.pipe(v.array(v.unknown(), noList), v.maxLength(most, tooMany), v.array(entry));
