import { AppError, isOurs, statusOf } from '../../core/errors.ts';
import { currentRequest, describeError, log } from '../../core/log.ts';
import { jsonHeaders, type Reply } from '../reply.ts';
import type { Middleware } from './middleware-types.ts';

/** Headers that belong on the answer whether it succeeds or fails; filled in by the middleware on the way. */
export interface AnswerHeaders {
  readonly answerHeaders: Record<string, string>;
}

const internal = (cause: unknown): AppError =>
  new AppError(
    'INTERNAL_ERROR',
    'Something went wrong on our side. Please try again; the request id helps us find it.',
    {
      cause,
    },
  );

const toReply = (error: AppError, requestId: string): Reply => ({
  statusCode: statusOf[error.code],
  headers: { ...jsonHeaders(), ...(error.retryAfter === undefined ? {} : { 'retry-after': String(error.retryAfter) }) },
  body: JSON.stringify({
    success: false,
    message: error.message,
    code: error.code,
    requestId,
    ...(error.errors ? { errors: error.errors } : {}),
  }),
});

/**
 * Turns whatever was thrown into the error body of contract 1. Only an `AppError` speaks to the caller; anything else
 * is a 500 that says nothing. The cause goes to the log with the request id.
 */
export const errorEnvelope = (): Middleware<unknown, AnswerHeaders> => ({
  before: () => ({ answerHeaders: { 'x-request-id': currentRequest.getStore()?.requestId ?? '' } }),
  after: ({ context, response }) => {
    if (response) Object.assign(response.headers, context.answerHeaders);
  },
  onError: (request) => {
    const record = currentRequest.getStore();
    const requestId = record?.requestId ?? '';
    const error = request.error instanceof AppError ? request.error : internal(request.error);
    if (record) record.code = error.code;
    const line = { requestId, code: error.code, error: describeError(error.cause ?? error) };
    if (isOurs(error)) log.error(line);
    else if (statusOf[error.code] >= 500) log.warn(line);
    const reply = toReply(error, requestId);
    Object.assign(reply.headers, request.context.answerHeaders);
    request.response = reply;
  },
});
