/**
 * What Lambda takes of a function: the bytes of its whole result as JSON, in which a body stands as a string once more.
 */
const maxResultBytes = 6_291_556;

/** Room for what stands around a body: status, headers, cookies. */
const aroundBytes = 16 * 1024;

/**
 * No UTF-16 unit of a JSON text takes more: either it is escaped, to two bytes, or it is up to three bytes of UTF-8.
 */
const maxBytesPerUnit = 3;

const countOf = (text: string, character: string): number => {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count += 1;
  return count;
};

/**
 * Bytes that a JSON text takes in a result: its own, and one more for each quote and backslash, as those are escaped
 * again.
 */
export const answerBytes = (json: string): number => Buffer.byteLength(json) + countOf(json, '"') + countOf(json, '\\');

/** Whether a body of JSON fits into a result; bodies of ordinary size are not even looked at. */
export const fitsAnswer = (body: string): boolean =>
  body.length * maxBytesPerUnit + aroundBytes <= maxResultBytes || answerBytes(body) + aroundBytes <= maxResultBytes;
