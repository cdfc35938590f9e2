import httpErrorHandler from '@middy/http-error-handler';
import { errorBody } from '../../core/error-body.ts';
import { AppError, type ErrorDetail, isOurs, maxErrors, statusOf } from '../../core/errors.ts';
import { jsonOf } from '../../core/json.ts';
import { describeError, log } from '../../core/log.ts';
import { currentRequest } from '../../core/request.ts';
import { cutText } from '../../core/text.ts';
import type { Middleware } from '../stack.ts';

/** Headers of the response, whether it succeeds or fails. Other middleware adds to them. */
export interface AnswerHeaders {
  readonly answerHeaders: Record<string, string>;
}

const internal = (cause: unknown): AppError =>
  new AppError('INTERNAL_ERROR', 'Something went wrong on our side. Retry. If it persists, report the request id.', {
    cause,
  });

const { onError: write } = httpErrorHandler({ logger: false });

/** Messages can quote the caller's input, which can be as long as a body. */
const maxTextLength = 2000;

const cut = (text: string): string => cutText(text, maxTextLength, '…');

const cutAll = (errors: readonly ErrorDetail[]): readonly ErrorDetail[] =>
  errors.slice(0, maxErrors).map((error) => ({
    ...error,
    ...(error.field !== undefined && { field: cut(error.field) }),
    ...(error.message !== undefined && { message: cut(error.message) }),
  }));

/** Middy's error handler writes an exposed error as it is; `message` is the body. */
const toHttpError = (error: AppError, requestId: string) => ({
  name: error.name,
  statusCode: statusOf[error.code],
  expose: true,
  headers: {
    'cache-control': 'no-store',
    ...(error.retryAfter === undefined ? {} : { 'retry-after': String(error.retryAfter) }),
    ...(error.etag === undefined ? {} : { etag: error.etag }),
    // The encodings that a body may have (RFC 9110, 15.5.16).
    ...(error.code === 'ENCODING_NOT_SUPPORTED' ? { 'accept-encoding': 'identity' } : {}),
  },
  message: jsonOf({
    ...errorBody({ code: error.code, message: cut(error.message) }, requestId),
    ...(error.errors ? { errors: cutAll(error.errors) } : {}),
    ...(error.ticket === undefined ? {} : { ticket: error.ticket }),
    ...(error.data === undefined ? {} : { data: error.data }),
  }),
});

/**
 * Turns a thrown value into the error body. Errors that are not an `AppError` become a 500 without details; the cause
 * is logged with the request id. A response that exists already stays.
 */
export const errorEnvelope = (): Middleware<unknown, AnswerHeaders> => ({
  before: () => ({ answerHeaders: { 'x-request-id': currentRequest.getStore()?.requestId ?? '' } }),
  after: ({ context, response }) => {
    if (response) Object.assign(response.headers, context.answerHeaders);
  },
  onError: (request) => {
    if (request.response) {
      Object.assign(request.response.headers, request.context.answerHeaders);
      return undefined;
    }
    const record = currentRequest.getStore();
    const requestId = record?.requestId ?? '';
    const error = request.error instanceof AppError ? request.error : internal(request.error);
    if (record) Object.assign(record, { code: error.code, refusal: error });
    const line = { requestId, code: error.code, error: describeError(error.cause ?? error) };
    if (isOurs(error)) log.error(line);
    else if (statusOf[error.code] >= 500) log.warn(line);
    const httpError = toHttpError(error, requestId);
    Object.assign(httpError.headers, request.context.answerHeaders);
    request.error = httpError;
    return write?.(request);
  },
});
