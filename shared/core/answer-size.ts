/**
 * Lambda's limit on the result of a function, in bytes: the result as JSON, in which the body is a string and so is
 * escaped once more.
 */
const maxResultBytes = 6_291_556;

/** Bytes kept free for the rest of the result: status, headers and cookies. */
const aroundBytes = 16 * 1024;

/**
 * The most bytes that one UTF-16 code unit of a JSON text can take: two when it is escaped, otherwise up to three in
 * UTF-8.
 */
const maxBytesPerUnit = 3;

const countOf = (text: string, character: string): number => {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count += 1;
  return count;
};

/**
 * Bytes that a JSON text takes up in a result: its own, plus one for each quote and backslash, which are escaped again.
 */
export const answerBytes = (json: string): number => Buffer.byteLength(json) + countOf(json, '"') + countOf(json, '\\');

/** Whether a JSON body fits into a result. Bodies that are certain to fit by their length are not scanned. */
export const fitsAnswer = (body: string): boolean =>
  body.length * maxBytesPerUnit + aroundBytes <= maxResultBytes || answerBytes(body) + aroundBytes <= maxResultBytes;
