import { isUtf8 } from 'node:buffer';
import jsonBodyParser from '@middy/http-json-body-parser';
import * as v from 'valibot';
import { AppError, type ErrorCode, type FieldError, maxErrors } from '../../core/errors.ts';
import { invalidJson, requireStorable, tooDeep } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { valuesByName } from '../../core/values.ts';
import type { PathParams, Route } from '../route.ts';
import type { Event, Middleware } from '../stack.ts';

const mebibyte = 1024 * 1024;

const notUtf8 = (): AppError => new AppError('INVALID_JSON', 'The body is not valid JSON: it is not UTF-8.');

/** Bytes that are no UTF-8 would each become another character. */
const textOf = (bytes: Buffer): string => {
  if (isUtf8(bytes)) return bytes.toString();
  throw notUtf8();
};

/** With a textual Content-Type the gateway has decoded the body: what is no UTF-8 became U+FFFD, of three bytes. */
const requireAsSent = (text: string, sentBytes: string | undefined): void => {
  if (sentBytes === undefined || !text.includes('\u{FFFD}')) return;
  if (Buffer.byteLength(text) !== Number(sentBytes)) throw notUtf8();
};

/** The package as far as it is used: it puts the value of `body` into its place. */
interface Parser {
  before?(request: { readonly event: object }): unknown;
}

const parser: Parser = jsonBodyParser({ disableContentTypeCheck: true });

/** What the package refuses: a text that is no JSON, or a key by which a prototype could be changed. */
interface ParserError {
  readonly cause?: { readonly data?: unknown; readonly message?: string };
}

const parseJson = (text: string): unknown => {
  const request = { event: { headers: {}, body: text } };
  try {
    parser.before?.(request);
  } catch (error) {
    const { cause } = error as ParserError;
    // It walks through the value by recursion.
    if (cause?.message?.includes('call stack')) throw tooDeep();
    if (cause?.message !== undefined) throw invalidJson(cause);
    const key = String(cause?.data);
    const held = key === 'constructor' ? ' and hold a field prototype' : '';
    throw new AppError('INVALID_BODY', `A field may not be named ${key}${held}.`);
  }
  return request.event.body;
};

/**
 * The JSON value of a request body. Over `maxBytes` → 413; empty, not JSON, too deep, a forbidden key, a number or
 * string that would change → 400. The Content-Type is not policed. `sentBytes` is the request's `content-length`.
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

/** A body is read as it comes: one that is compressed → 415 `ENCODING_NOT_SUPPORTED`. */
export const requireUnencoded = ({ headers }: Pick<Event, 'headers'>): void => {
  const encoding = headers['content-encoding']?.trim() ?? '';
  if (encoding === '' || encoding.toLowerCase() === 'identity') return;
  throw new AppError(
    'ENCODING_NOT_SUPPORTED',
    `The body has the Content-Encoding ${cutText(encoding, 100)}. Send it uncompressed, without this header.`,
  );
};

/** What the row declares, parsed: path parameters, query and body. */
interface Input<R extends Route> {
  readonly params: PathParams<R['path']>;
  readonly query: Output<R['query']>;
  readonly body: Output<R['body']>;
  /** Every query pair as sent, decoded, in order; the same name may come twice. */
  readonly queryPairs: readonly (readonly [string, string])[];
}

/** Added by `input`. */
export interface WithInput<R extends Route> {
  readonly input: Input<R>;
}

/** The same while its parts are of any kind: the row's own schemas have made them what it declares. */
type Unchecked = { readonly [Part in keyof Input<Route>]: unknown };

const pairsOf = (event: Event): [string, string][] =>
  event.rawQueryString ? [...new URLSearchParams(event.rawQueryString)] : [];

type Issue = v.BaseIssue<unknown>;

/** What was wrong, in the words of contract 2: a missing key "is required", a surplus one is not known. */
const describe = (issue: Issue, code: ErrorCode): string => {
  if (issue.kind === 'schema' && /^Invalid key/.test(issue.message)) {
    if (issue.expected !== 'never') return 'is required';
    return code === 'INVALID_QUERY' ? 'is not a known parameter' : 'is not a known field';
  }
  return issue.message;
};

const toFieldError = (issue: Issue, code: ErrorCode): FieldError => {
  const field = v.getDotPath(issue) ?? '';
  return { field, message: field === '' ? describe(issue, code) : `${field} ${describe(issue, code)}` };
};

const refusal = (issues: readonly Issue[], code: ErrorCode): AppError => {
  const errors = issues.slice(0, maxErrors).map((issue) => toFieldError(issue, code));
  const [first] = errors as [FieldError, ...FieldError[]];
  if (first.field === '') return new AppError(code === 'VALIDATION_FAILED' ? 'INVALID_BODY' : code, first.message);
  return code === 'VALIDATION_FAILED'
    ? new AppError(code, `Validation failed: ${first.message}`, { errors })
    : new AppError(code, first.message, { errors });
};

/** Parses a value by a schema; the failures become one `AppError` that names each field. */
const parseInput = <S extends v.GenericSchema>(schema: S, value: unknown, code: ErrorCode): v.InferOutput<S> => {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw refusal(result.issues, code);
};

/** A row whose schema takes any parameter reads those that it does not name itself, however often they are there. */
const queryOf = ({ query }: Route, pairs: readonly [string, string][]): unknown => {
  if (!query) return undefined;
  const given = query.type === 'loose_object' ? pairs : valuesByName(pairs);
  return parseInput(query, Object.fromEntries(given), 'INVALID_QUERY');
};

/** Parses what the row declares; anything that does not fit → 400 naming the field. */
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
