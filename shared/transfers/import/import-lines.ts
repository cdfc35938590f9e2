import { AppError } from '../../core/errors.ts';
import { parseJsonValue } from '../../core/json-value.ts';
import type { JsonObject } from '../../documents/document.ts';
import { isJsonObject } from '../../documents/write/schema-values.ts';

/** One line of a file that is imported: a document as it would be sent, or what is wrong with the line as a whole. */
export type ImportLine =
  | { readonly line: number; readonly body: JsonObject }
  | { readonly line: number; readonly problem: string };

/** A file that cannot be read any further, and why, for people. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

const newline = 0x0a;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const parseLine = (line: number, bytes: Uint8Array): ImportLine | undefined => {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { line, problem: 'The line is not valid UTF-8.' };
  }
  if (text.trim() === '') return undefined;
  try {
    const body = parseJsonValue(text);
    return isJsonObject(body) ? { line, body } : { line, problem: 'The line must be a JSON object.' };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { line, problem: error.code === 'INVALID_JSON' ? 'The line is not valid JSON.' : error.message };
  }
};

/** The documents of an NDJSON file, one a line; empty lines are none. Lines count from 1. */
export function* ndjsonLines(bytes: Uint8Array): Generator<ImportLine> {
  let start = 0;
  for (let line = 1; start < bytes.length; line += 1) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 ? bytes.length : found;
    const parsed = parseLine(line, bytes.subarray(start, end));
    if (parsed) yield parsed;
    start = end + 1;
  }
}
