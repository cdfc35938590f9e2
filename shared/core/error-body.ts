import { docsSettings } from './config.ts';
import { AppError, type ErrorCode, statusOf } from './errors.ts';
import { describeError, log } from './log.ts';

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The fields of every error body. Functions that do not know the documentation's address omit `docUrl`. */
export const errorBody = ({ code, message }: Failure, requestId: string) => {
  const { DOCS_URL } = docsSettings();
  const docUrl = DOCS_URL && `${DOCS_URL}/reference/errors#${code.toLowerCase()}`;
  return { success: false as const, message, code, requestId, ...(docUrl && { docUrl }) };
};

const toAppError = (error: unknown, requestId: string): AppError => {
  if (error instanceof AppError) return error;
  log.error({ requestId, code: 'INTERNAL_ERROR', error: describeError(error) });
  return new AppError('INTERNAL_ERROR', 'Something went wrong on our side. Retry.');
};

/** An error response of a function that is not an API endpoint. It is not cached. */
export const failureResponse = (error: unknown, requestId: string) => {
  const failure = toAppError(error, requestId);
  const { code, retryAfter } = failure;
  return {
    statusCode: statusOf[code],
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body: JSON.stringify(errorBody(failure, requestId)),
  };
};
