import { isUtf8 } from 'node:buffer';
import jsonBodyParser from '@middy/http-json-body-parser';
import * as v from 'valibot';
import { AppError, type ErrorCode, type FieldError, maxErrors, validationFailed } from '../../core/errors.ts';
import { invalidJson, requireStorable, tooDeep } from '../../core/json.ts';
import { valuesByName } from '../../core/query-parameters.ts';
import { cutText } from '../../core/text.ts';
import type { PathParams, Route } from '../route.ts';
import type { Event, Middleware } from '../stack.ts';

const mebibyte = 1024 * 1024;

const notUtf8 = (): AppError => new AppError('INVALID_JSON', 'The body is not valid JSON: it is not UTF-8.');

/** Invalid UTF-8 would be replaced silently. */
const textOf = (bytes: Buffer): string => {
  if (isUtf8(bytes)) return bytes.toString();
  throw notUtf8();
};

/**
 * The gateway has already decoded a body with a textual content type. Invalid bytes became U+FFFD, which has three
 * bytes, so the length differs.
 */
const requireAsSent = (text: string, sentBytes: string | undefined): void => {
  if (sentBytes === undefined || !text.includes('\u{FFFD}')) return;
  if (Buffer.byteLength(text) !== Number(sentBytes)) throw notUtf8();
};

/** Part of the package's types: it replaces `body` by its value. */
interface Parser {
  before?(request: { readonly event: object }): unknown;
}

const parser: Parser = jsonBodyParser({ disableContentTypeCheck: true });

/** The package's error: invalid JSON, or a key that could change a prototype. */
interface ParserError {
  readonly cause?: { readonly data?: unknown; readonly message?: string };
}

const parseJson = (text: string): unknown => {
  const request = { event: { headers: {}, body: text } };
  try {
    parser.before?.(request);
  } catch (error) {
    const { cause } = error as ParserError;
    // The package walks the value recursively.
    if (cause?.message?.includes('call stack')) throw tooDeep();
    if (cause?.message !== undefined) throw invalidJson(cause);
    const key = String(cause?.data);
    const held = key === 'constructor' ? ' and hold a field prototype' : '';
    throw new AppError('INVALID_BODY', `A field may not be named ${key}${held}.`);
  }
  return request.event.body;
};

/**
 * Parses a JSON body. 413 if it is larger than `maxBytes`; 400 if it is empty, invalid, nested too deeply, has a
 * forbidden key, or a number or string that would change. The content type is ignored. `sentBytes` is the
 * `content-length`.
 */
export const parseJsonBody = (
  body = '',
  isBase64Encoded: boolean,
  maxBytes = mebibyte,
  sentBytes?: string | undefined,
): unknown => {
  const text = isBase64Encoded ? textOf(Buffer.from(body, 'base64')) : body;
  if (!isBase64Encoded) requireAsSent(text, sentBytes);
  if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes)) {
    throw new AppError(
      'BODY_TOO_LARGE',
      `The body is larger than ${maxBytes === mebibyte ? '1 MiB' : `${maxBytes / 1024} KiB`}.`,
    );
  }
  if (text.trim() === '') throw new AppError('INVALID_BODY', 'A JSON body is required.');
  const value = parseJson(text);
  requireStorable(value, text);
  return value;
};

type Output<S> = S extends v.GenericSchema ? v.InferOutput<S> : undefined;

/** Throws 415 `ENCODING_NOT_SUPPORTED` for a compressed body. */
export const requireUnencoded = ({ headers }: Pick<Event, 'headers'>): void => {
  const encoding = headers['content-encoding']?.trim() ?? '';
  if (encoding === '' || encoding.toLowerCase() === 'identity') return;
  throw new AppError(
    'ENCODING_NOT_SUPPORTED',
    `The body has the Content-Encoding ${cutText(encoding, 100)}. Send it uncompressed, without this header.`,
  );
};

interface Input<R extends Route> {
  readonly params: PathParams<R['path']>;
  readonly query: Output<R['query']>;
  readonly body: Output<R['body']>;
  /** All decoded query pairs in order; a name may occur twice. */
  readonly queryPairs: readonly (readonly [string, string])[];
}

export interface WithInput<R extends Route> {
  readonly input: Input<R>;
}

type Unchecked = { readonly [Part in keyof Input<Route>]: unknown };

const pairsOf = (event: Event): [string, string][] =>
  event.rawQueryString ? [...new URLSearchParams(event.rawQueryString)] : [];

type Issue = v.BaseIssue<unknown>;

const describe = (issue: Issue, code: ErrorCode): string => {
  if (issue.kind === 'schema' && /^Invalid key/.test(issue.message)) {
    if (issue.expected !== 'never') return 'is required';
    return code === 'INVALID_QUERY' ? 'is not a known parameter' : 'is not a known field';
  }
  return issue.message;
};

const toFieldError = (issue: Issue, code: ErrorCode): FieldError => {
  const field = v.getDotPath(issue) ?? '';
  if (field === '') return { field, message: describe(issue, code) };
  // Schemas of bodies also check the objects inside of bodies.
  const said = describe(issue, code).replace(/^The body must be a JSON object\.$/, 'must be an Object');
  return { field, message: `${field} ${said}` };
};

const refusal = (issues: readonly Issue[], code: ErrorCode): AppError => {
  const errors = issues.slice(0, maxErrors).map((issue) => toFieldError(issue, code));
  const [first] = errors as [FieldError, ...FieldError[]];
  if (first.field === '') return new AppError(code === 'VALIDATION_FAILED' ? 'INVALID_BODY' : code, first.message);
  return code === 'VALIDATION_FAILED'
    ? new AppError(code, `Validation failed: ${first.message}`, { errors })
    : new AppError(code, first.message, { errors });
};

/** Throws 400 with a code, naming the fields that do not fit a schema. */
export const parseInput = <S extends v.GenericSchema>(schema: S, value: unknown, code: ErrorCode): v.InferOutput<S> => {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw refusal(result.issues, code);
};

/** Parameters that the schema does not name may repeat; the handler reads them from `queryPairs`. */
const queryOf = ({ query }: Route, pairs: readonly [string, string][]): unknown => {
  if (!query) return undefined;
  const given = query.type === 'loose_object' ? pairs : valuesByName(pairs);
  return parseInput(query, Object.fromEntries(given), 'INVALID_QUERY');
};

/** Parses path, query and body by the route's schemas; 400 naming the field if one is invalid. */
export const input = <R extends Route>(route: R): Middleware<unknown, WithInput<R>> => ({
  before: ({ event }) => {
    const queryPairs = pairsOf(event);
    if (route.body || event.body) requireUnencoded(event);
    const value: Unchecked = {
      params: event.pathParameters ?? {},
      query: queryOf(route, queryPairs),
      body:
        route.body &&
        parseInput(
          route.body,
          parseJsonBody(event.body, event.isBase64Encoded, route.maxBodyBytes, event.headers['content-length']),
          'VALIDATION_FAILED',
        ),
      queryPairs,
    };
    return { input: value as Input<R> };
  },
});

/** Headers with a single value that never contains a comma. `Idempotency-Key` has its own check. */
const single = {
  authorization: 'Authorization',
  origin: 'Origin',
  'x-api-key': 'x-api-key',
  'x-refresh-token': 'x-refresh-token',
} as const;

/**
 * Throws 400 `VALIDATION_FAILED` if one of these headers is sent twice. The gateway joins the values with a comma (RFC
 * 9110, 5.3), which would make another value or none.
 */
export const singleHeaders = (): Middleware<unknown, void> => ({
  before: ({ event: { headers } }) => {
    for (const [name, field] of Object.entries(single)) {
      if (!headers[name]?.includes(',')) continue;
      throw validationFailed({ field, message: `${field} was sent twice or contains a comma. Send one value.` });
    }
  },
});
