import * as v from 'valibot';

/** A body as text; `undefined` where it is longer than `maxBytes`, after which nothing of it is read. */
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

/** More than any character has that people write: flags and families of emoji, letters with several accents. */
const longestCharacter = 64;

let characters: Intl.Segmenter | undefined;

/**
 * Where the character that `at` is in begins. A heap of accents without end is cut, but not between the two halves of a
 * code point.
 */
const boundaryBefore = (text: string, at: number): number => {
  characters ??= new Intl.Segmenter();
  const start = characters.segment(text.slice(0, at + longestCharacter)).containing(at)?.index ?? at;
  if (at - start < longestCharacter) return start;
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(at - 1, at + 1)) ? at - 1 : at;
};

/**
 * The beginning of a text, at most `most` UTF-16 units and `end` after them, cut between two characters: never inside a
 * surrogate pair, an emoji or an accented letter. A text that is no longer is returned as it is.
 */
export const cutText = (text: string, most: number, end = ''): string =>
  text.length > most ? `${text.slice(0, boundaryBefore(text, most))}${end}` : text;

/**
 * A list of at most so many entries. They are counted before any is looked at, as each that is wrong makes an issue of
 * some hundred bytes, of which a body of 1 MiB could have half a million.
 */
export const listOf = <const S extends v.GenericSchema>(entry: S, most: number, tooMany: string, noList: string) =>
  v.pipe(v.array(v.unknown(), noList), v.maxLength(most, tooMany), v.array(entry));
