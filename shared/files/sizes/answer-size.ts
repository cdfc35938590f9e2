import { AppError, statusOf } from '../../core/errors.ts';
import { describeError, log } from '../../core/log.ts';
import { makeSize } from './make-size.ts';
import { visibilityHeader } from './size.ts';

/** What a function of its own address is asked: payload 2.0. */
export interface SizeRequest {
  readonly rawPath: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestContext: { readonly requestId: string };
}

const refusalOf = (error: unknown, requestId: string): AppError => {
  if (error instanceof AppError) return error;
  log.error({ requestId, code: 'INTERNAL_ERROR', error: describeError(error) });
  return new AppError('INTERNAL_ERROR', 'Something went wrong on our side. Please try again.');
};

/** The bytes of a size, or a refusal in the envelope, which nothing on the way keeps. */
export const answerSize = async ({ rawPath, headers, requestContext: { requestId } }: SizeRequest) => {
  try {
    const { bytes, contentType } = await makeSize(rawPath, headers[visibilityHeader]);
    return {
      statusCode: 200,
      headers: { 'content-type': contentType },
      body: Buffer.from(bytes).toString('base64'),
      isBase64Encoded: true,
    };
  } catch (error) {
    const { code, message, retryAfter } = refusalOf(error, requestId);
    return {
      statusCode: statusOf[code],
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      },
      body: JSON.stringify({ success: false, message, code, requestId }),
    };
  }
};
