import type { ErrorResponse, Resend } from 'resend';
import { mailSettings } from '../core/config.ts';
import { AppError, type ErrorCode } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { isOverdue, timed } from '../persistence/mongo-commands.ts';
import { settingText } from '../persistence/secrets.ts';

/** Longest wait for an answer of the provider, unless said otherwise. */
const answerLimitMs = 8000;

/** A refusal of the provider; without a status there was no answer. */
interface ProviderFailure {
  readonly data: null;
  readonly error: ErrorResponse;
  readonly headers: Readonly<Record<string, string>> | null;
}

export type Answer<T> = { readonly data: T; readonly error: null } | ProviderFailure;

const notSetUp = (): AppError =>
  new AppError(
    'NOT_SET_UP',
    'The shared mail key is not set up on this service. Set your own key (providerApiKey), or ask the operator.',
  );

/** The provider's key that projects without one of their own share; none that is a key → 501 `NOT_SET_UP`. */
export const sharedProviderKey = async (): Promise<string> => {
  const { MAIL_PROVIDER_KEY, MAIL_PROVIDER_SECRET_ARN } = mailSettings();
  const key = (await settingText(MAIL_PROVIDER_KEY, MAIL_PROVIDER_SECRET_ARN)).trim();
  if (!key.startsWith('re_')) throw notSetUp();
  return key;
};

/** Asks the provider with one key, in bounded time; `undefined` where no answer came in time. */
const ask = async <T>(
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

/** Longest wait for the provider to tell how a mail stands. */
const lookUpLimitMs = 4000;

/** A mail as it is handed over; addresses are plain, or `Name <address>`. */
export interface OutgoingMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  /** Come back with the provider's events. */
  readonly tags: Readonly<Record<string, string>>;
}

/** It will not be taken however often it is sent. */
interface Refused {
  readonly kind: 'refused';
  readonly reason: string;
}

/** It may be taken later. */
interface Postponed {
  readonly kind: 'postponed';
  readonly reason: string;
  /** The least that the provider asks for. */
  readonly afterSeconds: number;
  /** No answer came, so that it may have been taken already. */
  readonly maybeTaken: boolean;
}

/** What became of a mail that was handed to the provider. */
export type SendOutcome = { readonly kind: 'accepted'; readonly providerId?: string } | Refused | Postponed;

export type BatchItem = { readonly id: string } | { readonly error: string };

/** What became of a batch; `items` are in the order of its mails. */
export type BatchOutcome = { readonly kind: 'answered'; readonly items: readonly BatchItem[] } | Refused | Postponed;

/** What the provider says about a mail. */
type MailLookUp =
  | { readonly kind: 'found'; readonly mail: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unknown' }
  | Refused
  | Postponed;

/** Statuses below 500 that pass: time-out, and too many requests. */
const passing = new Set([408, 429]);

/** Refusals with status 409: the mail is being sent right now, or was taken before with another text. */
const beingSent = 'concurrent_idempotent_requests';
const takenBefore = 'invalid_idempotent_request';

const postponed = (reason: string, afterSeconds: number, maybeTaken: boolean): Postponed => ({
  kind: 'postponed',
  reason,
  afterSeconds,
  maybeTaken,
});

const late = postponed('The provider did not answer in time', 0, true);

/** Why, and whether another try makes sense. */
const failureOf = ({ error: { name, message, statusCode }, headers }: ProviderFailure): Refused | Postponed => {
  const reason = cutText(`${name}: ${message}`, 300);
  if (!statusCode || name === beingSent) return postponed(reason, 0, true);
  if (statusCode < 500 && !passing.has(statusCode)) return { kind: 'refused', reason };
  const asked = Number(headers?.['retry-after']);
  return postponed(reason, Number.isFinite(asked) ? asked : 0, false);
};

/** The provider wants at least one of the two parts. */
const partsOf = ({ html, text }: OutgoingMail) =>
  html === null ? { text: text ?? '' } : { html, ...(text !== null && { text }) };

const toPayload = (mail: OutgoingMail) => ({
  from: mail.from,
  to: [...mail.to],
  ...(mail.replyTo.length > 0 && { replyTo: [...mail.replyTo] }),
  subject: mail.subject,
  ...partsOf(mail),
  tags: Object.entries(mail.tags).map(([name, value]) => ({ name, value })),
});

/**
 * Hands one mail to the provider. It takes mails with the same `idempotencyKey` once within 24 h, so sending again
 * after an answer that got lost does no harm. Never throws for what the provider or the network does.
 */
export const postMail = async (apiKey: string, mail: OutgoingMail, idempotencyKey: string): Promise<SendOutcome> => {
  const answer = await ask(apiKey, (resend, signal) => resend.emails.send(toPayload(mail), { idempotencyKey, signal }));
  if (!answer) return late;
  if (!answer.error) return { kind: 'accepted', providerId: answer.data.id };
  return answer.error.name === takenBefore ? { kind: 'accepted' } : failureOf(answer);
};

interface BatchAnswer {
  readonly data: readonly { readonly id: string }[];
  readonly errors?: readonly { readonly index: number; readonly message: string }[];
}

/** The provider lists the ids of those it took, and the others by their place. */
const itemsOf = (count: number, { data, errors = [] }: BatchAnswer): BatchItem[] => {
  const refusals = new Map(errors.map(({ index, message }) => [index, message]));
  const taken = data.values();
  return Array.from({ length: count }, (_, index) => {
    const error = refusals.get(index);
    if (error !== undefined) return { error };
    const id = taken.next().value?.id;
    return id === undefined ? { error: 'The provider did not take this mail' } : { id };
  });
};

/** Hands 1 to 100 mails to the provider in one call, which takes those it can; otherwise as `postMail`. */
export const postMails = async (
  apiKey: string,
  mails: readonly OutgoingMail[],
  idempotencyKey: string,
): Promise<BatchOutcome> => {
  const answer: Answer<BatchAnswer> | undefined = await ask(apiKey, (resend, signal) =>
    resend.batch.send(mails.map(toPayload), { idempotencyKey, batchValidation: 'permissive', signal }),
  );
  if (!answer) return late;
  return answer.error ? failureOf(answer) : { kind: 'answered', items: itemsOf(mails.length, answer.data) };
};

export const lookUpMail = async (apiKey: string, providerId: string): Promise<MailLookUp> => {
  const answer = await ask(apiKey, (resend, signal) => resend.emails.get(providerId, { signal }), lookUpLimitMs);
  if (!answer) return late;
  if (!answer.error) return { kind: 'found', mail: { ...answer.data } };
  return answer.error.statusCode === 404 ? { kind: 'unknown' } : failureOf(answer);
};

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
  new AppError('MAIL_PROVIDER_UNAVAILABLE', 'The mail provider did not respond. Try again.', { retryAfter: 5 });

const refusal = (
  { statusCode, name, message }: ErrorResponse,
  headers: Readonly<Record<string, string>> | null,
): AppError => {
  if (!statusCode) return unavailable();
  const cause = new Error(`${statusCode} ${name}`);
  if (statusCode >= 500) {
    return new AppError('MAIL_PROVIDER_FAILED', 'The mail provider failed. Try again.', { cause });
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
