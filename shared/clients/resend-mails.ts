import { cutText } from '../core/bounded-text.ts';
import { type Answer, ask, type ProviderFailure } from './resend.ts';

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
