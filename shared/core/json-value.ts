import { AppError } from './errors.ts';

/** Maximum nesting depth of a document or body; the outermost value counts as 1. */
export const maxDepth = 64;

/** True for an object that is neither `null` nor an array. */
export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** No field may have these names, however it is addressed. */
export const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', '_bsontype']);

const invalid = (message: string): AppError => new AppError('INVALID_BODY', message);

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
    if (depth > maxDepth) throw invalid(`The body is nested more than ${maxDepth} levels deep.`);
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
  const said = cause instanceof Error ? cause.message : '';
  if (said === 'Unexpected end of JSON input') return ': it ends too early';
  const [, position] = / in JSON at position (\d+) \(line \d+ column \d+\)$/.exec(said) ?? [];
  return position === undefined ? '' : ` from character ${Number(position) + 1} on`;
};

const parse = (text: string): unknown => {
  try {
    return mayBeInexact.test(text)
      ? JSON.parse(text, exactNumbers as (key: string, value: unknown) => unknown)
      : JSON.parse(text);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('INVALID_JSON', `The body is not valid JSON${whereIn(cause)}.`, { cause });
  }
};

/**
 * The value of a JSON text that stands by itself, or `level` - 1 levels deep in something else. Not JSON → 400
 * `INVALID_JSON`; too deep, a forbidden key, a number or string that would change when stored → 400.
 */
export const parseJsonValue = (text: string, level = 1): unknown => {
  const value = parse(text);
  check(value, level);
  return value;
};
