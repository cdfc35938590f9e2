import type { ErrorResponse, Resend } from 'resend';
import { mailSettings } from '../core/config.ts';
import { AppError, type ErrorCode } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { isOverdue, timed } from '../persistence/mongo-commands.ts';
import { settingText } from '../persistence/secrets.ts';

/** Default time limit of a call. */
const answerLimitMs = 8000;

/** Without a status there was no response. */
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

/** The key of projects without their own. If it is not set up → 501 `NOT_SET_UP`. */
export const sharedProviderKey = async (): Promise<string> => {
  const { MAIL_PROVIDER_KEY, MAIL_PROVIDER_SECRET_ARN } = mailSettings();
  const key = (await settingText(MAIL_PROVIDER_KEY, MAIL_PROVIDER_SECRET_ARN)).trim();
  if (!key.startsWith('re_')) throw notSetUp();
  return key;
};

/** Returns `undefined` if the provider did not respond in time. */
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

const lookUpLimitMs = 4000;

/** Addresses are plain, or `Name <address>`. */
export interface OutgoingMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  /** The provider's events contain them. */
  readonly tags: Readonly<Record<string, string>>;
}

/** A retry would fail too. */
interface Refused {
  readonly kind: 'refused';
  readonly reason: string;
}

/** A retry may succeed. */
interface Postponed {
  readonly kind: 'postponed';
  readonly reason: string;
  /** Minimum delay that the provider asks for. */
  readonly afterSeconds: number;
  /** There was no response, so it may have been accepted. */
  readonly maybeTaken: boolean;
}

export type SendOutcome = { readonly kind: 'accepted'; readonly providerId?: string } | Refused | Postponed;

export type BatchItem = { readonly id: string } | { readonly error: string };

/** `items` are in the order of the emails. */
export type BatchOutcome = { readonly kind: 'answered'; readonly items: readonly BatchItem[] } | Refused | Postponed;

type MailLookUp =
  | { readonly kind: 'found'; readonly mail: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unknown' }
  | Refused
  | Postponed;

/** Temporary statuses below 500: timeout, too many requests. */
const passing = new Set([408, 429]);

/** Errors with status 409: the email is being sent now, or was accepted before with another text. */
const beingSent = 'concurrent_idempotent_requests';
const takenBefore = 'invalid_idempotent_request';

const postponed = (reason: string, afterSeconds: number, maybeTaken: boolean): Postponed => ({
  kind: 'postponed',
  reason,
  afterSeconds,
  maybeTaken,
});

const late = postponed('The provider did not respond in time', 0, true);

/** The reason, and if a retry makes sense. */
const failureOf = ({ error: { name, message, statusCode }, headers }: ProviderFailure): Refused | Postponed => {
  const reason = cutText(`${name}: ${message}`, 300);
  if (!statusCode || name === beingSent) return postponed(reason, 0, true);
  if (statusCode < 500 && !passing.has(statusCode)) return { kind: 'refused', reason };
  const asked = Number(headers?.['retry-after']);
  return postponed(reason, Number.isFinite(asked) ? asked : 0, false);
};

/** The provider requires at least one part. */
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
 * Submits one email. The provider accepts an `idempotencyKey` one time within 24 h, so a retry after a lost response
 * does no harm. Never throws for failures of the provider or the network.
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

/** The provider lists the accepted ids in order, and the other emails by their index. */
const itemsOf = (count: number, { data, errors = [] }: BatchAnswer): BatchItem[] => {
  const refusals = new Map(errors.map(({ index, message }) => [index, message]));
  const taken = data.values();
  return Array.from({ length: count }, (_, index) => {
    const error = refusals.get(index);
    if (error !== undefined) return { error };
    const id = taken.next().value?.id;
    return id === undefined ? { error: 'The provider did not accept this email' } : { id };
  });
};

/** Submits 1 to 100 emails in one call, which accepts the valid ones; otherwise as `postMail`. */
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

/** Other statuses below 500 are treated as 400. */
const codeOf: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'MAIL_PROVIDER_UNAUTHORIZED'],
  [403, 'MAIL_PROVIDER_FORBIDDEN'],
  [404, 'MAIL_PROVIDER_NOT_FOUND'],
  [409, 'MAIL_PROVIDER_CONFLICT'],
  [422, 'MAIL_PROVIDER_UNPROCESSABLE'],
]);

const maxMessageLength = 500;

const unavailable = (): AppError =>
  new AppError('MAIL_PROVIDER_UNAVAILABLE', 'The mail provider did not respond. Retry.', { retryAfter: 5 });

const refusal = (
  { statusCode, name, message }: ErrorResponse,
  headers: Readonly<Record<string, string>> | null,
): AppError => {
  if (!statusCode) return unavailable();
  const cause = new Error(`${statusCode} ${name}`);
  if (statusCode >= 500) {
    return new AppError('MAIL_PROVIDER_FAILED', 'The mail provider failed. Retry.', { cause });
  }
  const words = typeof message === 'string' && message !== '' ? message : 'The request was rejected.';
  const text = `The mail provider says: ${cutText(words, maxMessageLength)}`;
  if (statusCode === 429) {
    const asked = Math.ceil(Number(headers?.['retry-after']));
    return new AppError('MAIL_PROVIDER_RATE_LIMITED', text, { cause, retryAfter: asked > 0 ? asked : 1 });
  }
  return new AppError(codeOf.get(statusCode) ?? 'MAIL_PROVIDER_BAD_REQUEST', text, { cause });
};

/**
 * Calls the provider. Its errors keep their status and message (429 with `Retry-After`), 5xx becomes 502
 * `MAIL_PROVIDER_FAILED`, no response 503 `MAIL_PROVIDER_UNAVAILABLE`.
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
