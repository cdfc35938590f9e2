import type { ErrorResponse, Resend } from 'resend';
import { mailSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { settingText } from './secrets.ts';
import { isOverdue, timed } from './timed.ts';

/** Longest wait for an answer of the provider, unless said otherwise. */
const answerLimitMs = 8000;

/** A refusal of the provider; without a status there was no answer. */
export interface ProviderFailure {
  readonly data: null;
  readonly error: ErrorResponse;
  readonly headers: Readonly<Record<string, string>> | null;
}

export type Answer<T> = { readonly data: T; readonly error: null } | ProviderFailure;

const notSetUp = (): AppError =>
  new AppError(
    'NOT_SET_UP',
    'Sending mail with the shared key is not set up on this service. Set a key of your own (providerApiKey), or ask its operator.',
  );

/** The provider's key that projects without one of their own share; none that is a key → 501 `NOT_SET_UP`. */
export const sharedProviderKey = async (): Promise<string> => {
  const { MAIL_PROVIDER_KEY, MAIL_PROVIDER_SECRET_ARN } = mailSettings();
  const key = (await settingText(MAIL_PROVIDER_KEY, MAIL_PROVIDER_SECRET_ARN)).trim();
  if (!key.startsWith('re_')) throw notSetUp();
  return key;
};

/** Asks the provider with one key, in bounded time; `undefined` where no answer came in time. */
export const ask = async <T>(
  apiKey: string,
  call: (resend: Resend, signal: AbortSignal) => Promise<Answer<T>>,
  limitMs = answerLimitMs,
): Promise<Answer<T> | undefined> => {
  const { Resend } = await import('resend');
  const resend = new Resend(apiKey, { baseUrl: mailSettings().MAIL_PROVIDER_URL });
  const signal = AbortSignal.timeout(limitMs);
  try {
    return await timed(limitMs + 500, () => call(resend, signal));
  } catch (error) {
    if (isOverdue(error) || signal.aborted) return undefined;
    throw error;
  }
};
