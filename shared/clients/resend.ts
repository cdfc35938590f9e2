import type { ErrorResponse } from 'resend';
import { mailSettings } from '../config.ts';
import { secret } from './secrets.ts';
import { isOverdue, timed } from './timed.ts';

/** Longest wait for the provider's answer to one mail. */
const sendLimitMs = 8000;

export interface OutgoingMail {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** What became of a mail that was handed to the provider. */
export type SendOutcome =
  | { readonly kind: 'accepted'; readonly providerId?: string }
  /** It will not be taken however often it is sent. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It may be taken later; `afterSeconds` is the least that the provider asks for. */
  | { readonly kind: 'postponed'; readonly reason: string; readonly afterSeconds: number };

const postpone = (reason: string, afterSeconds = 0): SendOutcome => ({ kind: 'postponed', reason, afterSeconds });

/** Statuses below 500 that pass: time-out, and too many requests. */
const passing = new Set([408, 429]);

const keyOf = async (): Promise<string> => {
  const { MAIL_PROVIDER_KEY, MAIL_PROVIDER_SECRET_ARN } = mailSettings();
  const key = MAIL_PROVIDER_KEY || (MAIL_PROVIDER_SECRET_ARN ? await secret(MAIL_PROVIDER_SECRET_ARN) : '');
  if (!key) throw new Error('Neither MAIL_PROVIDER_KEY nor MAIL_PROVIDER_SECRET_ARN is set');
  return key;
};

/** Names of refusals with status 409: the same mail is being sent at this moment, or was taken before with another text. */
const beingSent = 'concurrent_idempotent_requests';
const takenBefore = 'invalid_idempotent_request';

const outcomeOf = (
  { name, message, statusCode }: ErrorResponse,
  headers: Readonly<Record<string, string>> | null,
): SendOutcome => {
  const reason = `${name}: ${message}`.slice(0, 300);
  if (name === takenBefore) return { kind: 'accepted' };
  const passes = !statusCode || statusCode >= 500 || passing.has(statusCode) || name === beingSent;
  const asked = Number(headers?.['retry-after']);
  return passes ? postpone(reason, Number.isFinite(asked) ? asked : 0) : { kind: 'refused', reason };
};

/**
 * Hands one mail to the provider. It takes mails with the same `idempotencyKey` once within 24 h, so sending again after an
 * answer that got lost does no harm. Never throws for what the provider or the network does.
 */
export const sendMail = async (mail: OutgoingMail, idempotencyKey: string): Promise<SendOutcome> => {
  const { Resend } = await import('resend');
  const resend = new Resend(await keyOf(), { baseUrl: mailSettings().MAIL_PROVIDER_URL });
  const signal = AbortSignal.timeout(sendLimitMs);
  try {
    const { data, error, headers } = await timed(sendLimitMs + 500, () =>
      resend.emails.send({ ...mail }, { idempotencyKey, signal }),
    );
    return error ? outcomeOf(error, headers) : { kind: 'accepted', providerId: data.id };
  } catch (error) {
    if (isOverdue(error) || signal.aborted) return postpone('The provider did not answer in time');
    throw error;
  }
};
