import * as v from 'valibot';

/** Returns a body as text; `undefined` if it is longer than `maxBytes`, without reading the rest. */
export const boundedText = async (
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<string | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

/** An upper bound for one written character: flags, families of emoji, letters with several accents. */
const longestCharacter = 64;

let characters: Intl.Segmenter | undefined;

/** Start of the character at `at`. A heap of accents is cut, but never a surrogate pair. */
const boundaryBefore = (text: string, at: number): number => {
  characters ??= new Intl.Segmenter();
  const start = characters.segment(text.slice(0, at + longestCharacter)).containing(at)?.index ?? at;
  if (at - start < longestCharacter) return start;
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(at - 1, at + 1)) ? at - 1 : at;
};

/**
 * Cuts a text to `most` UTF-16 units and appends `end`. Cuts between characters, never inside a surrogate pair, an
 * emoji or an accented letter.
 */
export const cutText = (text: string, most: number, end = ''): string =>
  text.length > most ? `${text.slice(0, boundaryBefore(text, most))}${end}` : text;

/**
 * A list of at most `most` entries. The count is checked first, because each invalid entry makes an error of some
 * hundred bytes, and a body of 1 MiB can have half a million entries.
 */
export const listOf = <const S extends v.GenericSchema>(entry: S, most: number, tooMany: string, noList: string) =>
  v.pipe(v.array(v.unknown(), noList), v.maxLength(most, tooMany), v.array(entry));

/** A revision as an `ETag`. */
export const etagOf = (revision: number): string => `"${revision}"`;
