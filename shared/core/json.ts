import { AppError } from './errors.ts';

/** Maximum nesting depth of a document or body; the outermost value counts as 1. */
export const maxDepth = 64;

/** True for an object that is neither `null` nor an array. */
export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** No field may have these names, however it is addressed. */
export const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', '_bsontype']);

const invalid = (message: string): AppError => new AppError('INVALID_BODY', message);

export const tooDeep = (): AppError => invalid(`The body is nested more than ${maxDepth} levels deep.`);

const checkKey = (key: string): void => {
  if (forbiddenKeys.has(key)) throw invalid(`A field may not be named ${key}.`);
  if (!key.isWellFormed()) throw invalid('A field name is not well-formed Unicode.');
  if (key.includes('\0')) throw invalid('A field name contains a NUL character.');
};

/** Refuses what could not be stored and given back as it was sent (contract 1 "Body", 2 "Text"). */
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

/** `value` as it is; an integer that would change when stored, by how it was written → 400 `NUMBER_NOT_EXACT`. */
export const exactNumbers = (key: string, value: unknown, context: Source): unknown => {
  if (typeof value === 'number' && !Number.isSafeInteger(value) && writtenAsInteger.test(context.source ?? '')) {
    throw new AppError(
      'NUMBER_NOT_EXACT',
      `${key || 'The body'}: integers beyond ±(2^53−1) would change when stored. Send it as a string.`,
    );
  }
  return value;
};

/** A number of an address; an integer that is not exactly what its text says → 400 `NUMBER_NOT_EXACT`. */
export const requireExact = <T>(name: string, value: T, text: string): T => {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !writtenAsInteger.test(text)) return value;
  throw new AppError('NUMBER_NOT_EXACT', `${name}: integers beyond ±(2^53−1) would be rounded. Use a smaller number.`);
};

/** Where it stops being JSON, as far as the parser says; never anything of the text itself. */
const whereIn = (cause: unknown): string => {
  const { message: said = '' } = (cause ?? {}) as { readonly message?: string };
  if (said === 'Unexpected end of JSON input') return ': it ends too early';
  const [, position] = / in JSON at position (\d+) \(line \d+ column \d+\)$/.exec(said) ?? [];
  return position === undefined ? '' : ` from character ${Number(position) + 1} on`;
};

/** 400 `INVALID_JSON`, which tells where the parser stopped. */
export const invalidJson = (cause: unknown): AppError =>
  new AppError('INVALID_JSON', `The body is not valid JSON${whereIn(cause)}.`, { cause });

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJson(cause);
  }
};

/** 400 if the value of a JSON text is too deep, has a forbidden key, or a number or string that would change. */
export const requireStorable = (value: unknown, text: string, level = 1): void => {
  if (mayBeInexact.test(text)) JSON.parse(text, exactNumbers as (key: string, value: unknown) => unknown);
  check(value, level);
};

/**
 * The value of a JSON text that stands by itself, or `level` - 1 levels deep in something else. Not JSON → 400
 * `INVALID_JSON`; too deep, a forbidden key, a number or string that would change when stored → 400.
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
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${sortedText(field, depth + 1)}`).join(',')}}`;
};

/**
 * The same text for JSON texts of the same value, whatever their white space and the order of their fields. A text that
 * is not JSON, or is too deep, is returned as it is.
 */
export const comparableJson = (text: string): string => {
  try {
    return sortedText(JSON.parse(text), 1);
  } catch {
    return text;
  }
};

/** A value whose JSON is known already: `jsonOf` puts the text in as it stands. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Answers are an object in which `data` is one, in which a list stands: below that no text is looked for. */
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

/** What `JSON.stringify` gives, of a value that may be such a text or hold some: in an object, in a list of one. */
export const jsonOf = (value: unknown): string => inner(value, levels);

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
export const responseBytes = (json: string): number =>
  Buffer.byteLength(json) + countOf(json, '"') + countOf(json, '\\');

/** Whether a JSON body fits into a result. Bodies that are certain to fit by their length are not scanned. */
export const fitsResponse = (body: string): boolean =>
  body.length * maxBytesPerUnit + aroundBytes <= maxResultBytes || responseBytes(body) + aroundBytes <= maxResultBytes;

/**
 * The refusal of an answer that Lambda would not take, which tells the caller more than a 500: 400 `RESULT_TOO_LARGE`.
 */
export const responseTooLarge = (): AppError =>
  new AppError(
    'RESULT_TOO_LARGE',
    'The response would be larger than 6 MB (each quote and backslash counts twice). Use a smaller limit, or choose fields with fields=a,b.',
  );
