import { AppError } from './errors.ts';

/** Lambda's limit on a function's result as JSON, in bytes: the body is a string in it, escaped once more. */
const maxResultBytes = 6_291_556;

/** Bytes kept free for the rest of the result: status, headers and cookies. */
const aroundBytes = 16 * 1024;

/** Bytes of a UTF-16 code unit of a JSON text at most: two when escaped, otherwise up to three in UTF-8. */
const maxBytesPerUnit = 3;

const countOf = (text: string, character: string): number => {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count += 1;
  return count;
};

/** Bytes of a JSON text in a result: its own, plus one for each quote and backslash. */
export const answerBytes = (json: string): number => Buffer.byteLength(json) + countOf(json, '"') + countOf(json, '\\');

/** Whether a JSON body fits into a result. Bodies that are certain to fit by their length are not scanned. */
export const fitsAnswer = (body: string): boolean =>
  body.length * maxBytesPerUnit + aroundBytes <= maxResultBytes || answerBytes(body) + aroundBytes <= maxResultBytes;

/**
 * The refusal of an answer that Lambda would not take, which tells the caller more than a 500: 400 `RESULT_TOO_LARGE`.
 */
export const answerTooLarge = (): AppError =>
  new AppError(
    'RESULT_TOO_LARGE',
    'The answer would be larger than 6 MB, in which each quote and backslash counts twice. Ask for less of it at once: by a smaller limit, or for single fields of a document with fields=a,b.',
  );
