import type { ErrorResponse, Resend } from 'resend';
import { cutText } from '../core/bounded-text.ts';
import { AppError, type ErrorCode } from '../core/errors.ts';
import { type Answer, ask } from './resend.ts';

/** Statuses of the provider that are passed on; any other below 500 is as 400. */
const codeOf: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'MAIL_PROVIDER_UNAUTHORIZED'],
  [403, 'MAIL_PROVIDER_FORBIDDEN'],
  [404, 'MAIL_PROVIDER_NOT_FOUND'],
  [409, 'MAIL_PROVIDER_CONFLICT'],
  [422, 'MAIL_PROVIDER_UNPROCESSABLE'],
]);

const maxMessageLength = 500;

const unavailable = (): AppError =>
  new AppError('MAIL_PROVIDER_UNAVAILABLE', 'The mail provider did not answer. Please try again.', { retryAfter: 5 });

const refusal = (
  { statusCode, name, message }: ErrorResponse,
  headers: Readonly<Record<string, string>> | null,
): AppError => {
  if (!statusCode) return unavailable();
  const cause = new Error(`${statusCode} ${name}`);
  if (statusCode >= 500) {
    return new AppError('MAIL_PROVIDER_FAILED', 'The mail provider failed. Please try again.', { cause });
  }
  const words = typeof message === 'string' && message !== '' ? message : 'The request was refused.';
  const text = `The mail provider says: ${cutText(words, maxMessageLength)}`;
  if (statusCode === 429) {
    const asked = Math.ceil(Number(headers?.['retry-after']));
    return new AppError('MAIL_PROVIDER_RATE_LIMITED', text, { cause, retryAfter: asked > 0 ? asked : 1 });
  }
  return new AppError(codeOf.get(statusCode) ?? 'MAIL_PROVIDER_BAD_REQUEST', text, { cause });
};

/**
 * What the provider answers to one call with this key. Its refusals become errors of the same status that carry its
 * message (429 with its `Retry-After`), its failures → 502 `MAIL_PROVIDER_FAILED`, no answer → 503
 * `MAIL_PROVIDER_UNAVAILABLE`.
 */
export const callProvider = async <T>(
  apiKey: string,
  call: (resend: Resend, signal: AbortSignal) => Promise<Answer<T>>,
): Promise<T> => {
  const answer = await ask(apiKey, call);
  if (!answer) throw unavailable();
  if (answer.error) throw refusal(answer.error, answer.headers);
  return answer.data;
};
