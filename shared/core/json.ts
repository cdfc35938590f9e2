import { AppError } from './errors.ts';

/** Maximum nesting depth of a document or body; the outermost value is level 1. */
export const maxDepth = 64;

export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Field names that are always rejected. */
export const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', '_bsontype']);

const invalid = (message: string): AppError => new AppError('INVALID_BODY', message);

export const tooDeep = (): AppError => invalid(`The body is nested more than ${maxDepth} levels deep.`);

const checkKey = (key: string): void => {
  if (forbiddenKeys.has(key)) throw invalid(`A field may not be named ${key}.`);
  if (!key.isWellFormed()) throw invalid('A field name is not well-formed Unicode.');
  if (key.includes('\0')) throw invalid('A field name contains a NUL character.');
};

/** Throws for values that would not be returned as they were sent (contract 1 "Body", 2 "Text"). */
const check = (value: unknown, depth: number): void => {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw invalid('A string is not well-formed Unicode (it holds a lone surrogate).');
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw invalid('A number is too large. Send it as a string.');
  } else if (typeof value === 'object' && value !== null) {
    if (depth > maxDepth) throw tooDeep();
    if (Array.isArray(value)) {
      for (const item of value) check(item, depth + 1);
    } else {
      for (const [key, item] of Object.entries(value)) {
        checkKey(key);
        check(item, depth + 1);
      }
    }
  }
};

/** An integer beyond 2^53 has at least sixteen digits; a text without such a run contains no inexact number. */
const mayBeInexact = /\d{16}/;
const writtenAsInteger = /^[+-]?\d+$/;

interface Source {
  readonly source?: string;
}

/** Returns `value`; throws 400 `NUMBER_NOT_EXACT` for an integer that would change when stored. */
export const exactNumbers = (key: string, value: unknown, context: Source): unknown => {
  if (typeof value === 'number' && !Number.isSafeInteger(value) && writtenAsInteger.test(context.source ?? '')) {
    throw new AppError(
      'NUMBER_NOT_EXACT',
      `${key || 'The body'}: integers beyond ±(2^53−1) would change when stored. Send it as a string.`,
    );
  }
  return value;
};

/** Returns a number of the query string; throws 400 `NUMBER_NOT_EXACT` for an integer that is not exactly its text. */
export const requireExact = <T>(name: string, value: T, text: string): T => {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !writtenAsInteger.test(text)) return value;
  throw new AppError('NUMBER_NOT_EXACT', `${name}: integers beyond ±(2^53−1) would be rounded. Use a smaller number.`);
};

/** The position at which the parser stopped; never quotes the text. */
const whereIn = (cause: unknown): string => {
  const { message: said = '' } = (cause ?? {}) as { readonly message?: string };
  if (said === 'Unexpected end of JSON input') return ': it ends too early';
  const [, position] = / in JSON at position (\d+) \(line \d+ column \d+\)$/.exec(said) ?? [];
  return position === undefined ? '' : ` from character ${Number(position) + 1} on`;
};

export const invalidJson = (cause: unknown): AppError =>
  new AppError('INVALID_JSON', `The body is not valid JSON${whereIn(cause)}.`, { cause });

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJson(cause);
  }
};

/** Throws 400 if the value is too deep, or has a forbidden key, or a number or string that would change. */
export const requireStorable = (value: unknown, text: string, level = 1): void => {
  if (mayBeInexact.test(text)) JSON.parse(text, exactNumbers as (key: string, value: unknown) => unknown);
  check(value, level);
};

/**
 * Parses a JSON text that is `level` - 1 levels deep in another one. Throws 400 for invalid JSON and for values that
 * cannot be stored.
 */
export const parseJsonValue = (text: string, level = 1): unknown => {
  const value = parse(text);
  requireStorable(value, text, level);
  return value;
};

const sortedText = (value: unknown, depth: number): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth > maxDepth) throw tooDeep();
  if (Array.isArray(value)) return `[${value.map((item) => sortedText(item, depth + 1)).join(',')}]`;
  const object = value as Readonly<Record<string, unknown>>;
  const fields = Object.keys(object).sort();
  return `{${fields.map((key) => `${JSON.stringify(key)}:${sortedText(object[key], depth + 1)}`).join(',')}}`;
};

/**
 * Returns the same text for equal JSON values, whatever their white space and field order. Invalid or too deep texts
 * are returned unchanged.
 */
export const comparableJson = (text: string): string => {
  try {
    return sortedText(JSON.parse(text), 1);
  } catch {
    return text;
  }
};

/** A value whose JSON is known; `jsonOf` inserts it unchanged. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Responses are an object with an object `data` with a list; `JsonText` is not searched below that. */
const levels = 3;

const holdsText = (value: unknown, below: number): boolean => {
  if (typeof value !== 'object' || value === null || below < 0) return false;
  if (value instanceof JsonText) return true;
  if (Array.isArray(value)) return value[0] instanceof JsonText;
  for (const key in value) if (holdsText((value as Record<string, unknown>)[key], below - 1)) return true;
  return false;
};

const inner = (value: unknown, below: number): string => {
  if (value instanceof JsonText) return value.text;
  if (!holdsText(value, below)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => inner(item, 0)).join(',')}]`;
  const fields = Object.entries(value as object).filter(([, field]) => field !== undefined);
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${inner(field, below - 1)}`).join(',')}}`;
};

/** `JSON.stringify` for values that may contain `JsonText`; of a list only the first item is checked. */
export const jsonOf = (value: unknown): string => inner(value, levels);

/** Lambda's limit of a result in bytes. The body is a JSON string in it, so it is escaped once more. */
const maxResultBytes = 6_291_556;

/** Bytes for status, headers and cookies. */
const aroundBytes = 16 * 1024;

/** Maximum bytes per UTF-16 code unit: two if escaped, otherwise three in UTF-8. */
const maxBytesPerUnit = 3;

const countOf = (text: string, character: string): number => {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count += 1;
  return count;
};

/** Bytes of a JSON text in a result: each quote and backslash counts twice. */
export const responseBytes = (json: string): number =>
  Buffer.byteLength(json) + countOf(json, '"') + countOf(json, '\\');

/** True if a JSON body fits into a result. Short bodies are not scanned. */
export const fitsResponse = (body: string): boolean =>
  body.length * maxBytesPerUnit + aroundBytes <= maxResultBytes || responseBytes(body) + aroundBytes <= maxResultBytes;

/** 400 for a response that Lambda would reject with an unexplained 500. */
export const responseTooLarge = (): AppError =>
  new AppError(
    'RESULT_TOO_LARGE',
    'The response would be larger than 6 MB (each quote and backslash counts twice). Use a smaller limit, or choose fields with fields=a,b.',
  );
