import { ObjectId } from 'mongodb';
import * as v from 'valibot';
import { clock, nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { isSignable, isSigned, projectSecrets, type SignedDelivery, sharedSecrets } from './event-signature.ts';
import { type MailLog, type MailStatus, mailLogs, mailTag } from './log.ts';
import { canonicalAddress, suppress } from './suppressions.ts';

const statusAfter: ReadonlyMap<string, MailStatus> = new Map([
  ['email.sent', 'sent'],
  ['email.delivered', 'delivered'],
  ['email.bounced', 'bounced'],
  ['email.complained', 'complained'],
  ['email.delivery_delayed', 'queued'],
]);

/** Weakest first: a repeated or late event does not replace a later one. */
const rankedStatuses = [
  'sent',
  'queued',
  'delivered',
  'bounced',
  'complained',
] as const satisfies readonly MailStatus[];

/** From 1; 0 for a status that no event sets. Mail may be delivered after a transient bounce. */
const rankOf = (status: MailStatus, isTransient = false): number =>
  status === 'bounced' && isTransient
    ? rankOf('delivered') - 0.5
    : (rankedStatuses as readonly string[]).indexOf(status) + 1;

interface MailEvent {
  /** `svix-id` or `webhook-id`, the same for each repeat. */
  readonly id: string;
  readonly status: MailStatus;
  /** By the provider's clock. */
  readonly at: Date;
  readonly providerEmailId: string;
  /** Empty if the event names none. */
  readonly to: readonly string[];
  /** From our tag, if the email had one. */
  readonly logId: string | undefined;
  /** A retry may succeed. */
  readonly isTransient: boolean;
  readonly reason: string | undefined;
}

const text = v.string();

/** Invalid optional fields count as missing, because no event is worth rejecting for a detail. */
const Envelope = v.pipe(
  text,
  v.parseJson(),
  v.object({
    type: text,
    created_at: v.fallback(v.optional(text), undefined),
    data: v.object({
      email_id: v.pipe(text, v.nonEmpty()),
      to: v.fallback(
        v.union([
          v.array(text),
          v.pipe(
            text,
            v.transform((address) => [address]),
          ),
        ]),
        [],
      ),
      // A record would also accept arrays, so arrays come first.
      tags: v.fallback(
        v.union([v.array(v.object({ name: text, value: v.unknown() })), v.record(text, v.unknown())]),
        {},
      ),
      bounce: v.fallback(v.optional(v.object({ type: v.optional(text), message: v.optional(text) })), undefined),
    }),
  }),
);

type Tags = v.InferOutput<typeof Envelope>['data']['tags'];

const tagOf = (tags: Tags): string | undefined => {
  const value = Array.isArray(tags) ? tags.find(({ name }) => name === mailTag)?.value : tags[mailTag];
  return typeof value === 'string' && /^[0-9a-f]{24}$/.test(value) ? value : undefined;
};

const maxReasonLength = 500;

/** Returns `undefined` for other events. `sentAt` replaces a missing time. */
export const parseEvent = (id: string, body: Buffer, sentAt: Date): MailEvent | undefined => {
  const parsed = v.safeParse(Envelope, body.toString());
  if (!parsed.success) return undefined;
  const { type, created_at: createdAt = '', data } = parsed.output;
  const status = statusAfter.get(type);
  if (status === undefined) return undefined;
  const at = new Date(createdAt);
  return {
    id,
    status,
    at: Number.isNaN(at.getTime()) ? sentAt : at,
    providerEmailId: data.email_id,
    to: data.to,
    logId: tagOf(data.tags),
    isTransient: data.bounce?.type?.toLowerCase() === 'transient',
    reason: data.bounce?.message && cutText(data.bounce.message, maxReasonLength),
  };
};

/** More than an email ever gets; the provider repeats events for some days only. */
const maxEventIds = 50;

/** For this long after an event, its email may not be logged yet. */
const patienceMs = 10 * 60_000;

const literal = <T>(value: T): { readonly $literal: T } => ({ $literal: value });

/** By the provider's id, else by our tag. A project's own account only reports on mail sent with its own key. */
const findMail = async ({ providerEmailId, logId }: MailEvent, projectId: string | null): Promise<MailLog | null> => {
  const theirs = projectId === null ? {} : { projectId: ObjectId.createFromHexString(projectId), usingByok: true };
  const known = await mailLogs.findOne({ providerEmailId: { $eq: providerEmailId }, ...theirs });
  if (known || logId === undefined) return known;
  const _id = ObjectId.createFromHexString(logId);
  return mailLogs.findOne({ _id, providerEmailId: { $exists: false }, ...theirs });
};

/** The recipients that the event names, or all of them. */
const affectedRecipients = ({ to }: MailEvent, mail: MailLog): readonly string[] => {
  const named = new Set(to.map(canonicalAddress));
  return named.size === 0 ? mail.to : mail.to.filter((address) => named.has(canonicalAddress(address)));
};

const suppressAffected = async (event: MailEvent, mail: MailLog): Promise<void> => {
  const { status, isTransient, providerEmailId } = event;
  if (mail.projectId === null || (status !== 'complained' && (status !== 'bounced' || isTransient))) return;
  await suppress(mail.projectId.toHexString(), affectedRecipients(event, mail), { reason: status, providerEmailId });
};

/** 0 without an event. Entries from before ranks were stored have only their status. */
const presentRank = {
  $cond: [
    { $eq: [{ $type: '$lastEventAt' }, 'missing'] },
    0,
    { $ifNull: ['$eventRank', { $add: [{ $indexOfArray: [rankedStatuses, '$status'] }, 1] }] },
  ],
};

/**
 * Adds the event id, and sets status and reason if the event outranks the stored one, or has the same rank and is no
 * earlier. A known id changes nothing, so events may repeat and arrive in any order.
 */
const applyToLog = ({ _id }: MailLog, event: MailEvent): Promise<unknown> => {
  const rank = rankOf(event.status, event.isTransient);
  const isNoEarlier = { $gte: [literal(event.at), { $ifNull: ['$lastEventAt', literal(new Date(0))] }] };
  const counts = {
    $or: [{ $gt: [rank, presentRank] }, { $and: [{ $eq: [rank, presentRank] }, isNoEarlier] }],
  };
  const ifCounts = (value: unknown, field: string): object => ({ $cond: [counts, literal(value), `$${field}`] });
  const known = { $ifNull: ['$eventIds', []] };
  return mailLogs.updateOne({ _id, eventIds: { $ne: event.id } }, [
    {
      $set: {
        eventIds: { $slice: [{ $concatArrays: [known, literal([event.id])] }, -maxEventIds] },
        status: ifCounts(event.status, 'status'),
        reason: { $cond: [counts, event.reason === undefined ? '$$REMOVE' : literal(event.reason), '$reason'] },
        lastEventAt: ifCounts(event.at, 'lastEventAt'),
        eventRank: ifCounts(rank, 'eventRank'),
        providerEmailId: literal(event.providerEmailId),
        updatedAt: literal(new Date(clock.now())),
      },
    },
  ]);
};

/**
 * Suppresses the addresses of a hard bounce or complaint, then updates the entry; after a crash in between, the next
 * delivery repeats both. Returns false if no email matches. Throws 503 `EVENT_TOO_EARLY` if the email may not be logged
 * yet.
 */
const applyEvent = async (event: MailEvent, projectId: string | null): Promise<boolean> => {
  const mail = await findMail(event, projectId);
  if (!mail) {
    if (event.logId === undefined || clock.now() - event.at.getTime() > patienceMs) return false;
    throw new AppError('EVENT_TOO_EARLY', 'The email of this event is not logged yet. Send the event again.');
  }
  if (mail.eventIds?.includes(event.id)) return true;
  await suppressAffected(event, mail);
  await applyToLog(mail, event);
  return true;
};

const maxBytes = 1024 * 1024;

/** `projectId` is `null` for the shared account. */
export interface CheckedDelivery extends SignedDelivery {
  readonly projectId: string | null;
}

const badSignature = (): AppError =>
  new AppError('INVALID_SIGNATURE', 'The signature does not match the body, or is more than 5 minutes old.');

const requireSigned = (delivery: SignedDelivery, secrets: readonly Buffer[]): void => {
  if (delivery.body.length > maxBytes) throw new AppError('BODY_TOO_LARGE', 'The body is larger than 1 MiB.');
  if (!isSigned(delivery, secrets, nowSeconds())) throw badSignature();
};

/** Checks a delivery of the shared account. Throws 413 `BODY_TOO_LARGE` or 400 `INVALID_SIGNATURE`. */
export const checkDelivery = async (delivery: SignedDelivery): Promise<CheckedDelivery | 'not configured'> => {
  const secrets = await sharedSecrets();
  if (secrets.length === 0) return 'not configured';
  requireSigned(delivery, secrets);
  return { ...delivery, projectId: null };
};

/** Checks a delivery of a project's own account. Malformed headers are rejected before the project is read. */
export const checkProjectDelivery = async (delivery: SignedDelivery, projectId: string): Promise<CheckedDelivery> => {
  if (!isSignable(delivery, nowSeconds())) throw badSignature();
  requireSigned(delivery, await projectSecrets(projectId));
  return { ...delivery, projectId };
};

/** Applies a checked delivery. Returns the message for the response. */
export const receiveWebhook = async (delivery: CheckedDelivery | 'not configured'): Promise<string> => {
  if (delivery === 'not configured') return 'Webhook ignored: secret not configured.';
  const { id = '', timestamp, body, projectId } = delivery;
  const event = parseEvent(id, body, new Date(Number(timestamp) * 1000));
  if (!event) return 'Webhook ignored: this event changes no email.';
  return (await applyEvent(event, projectId)) ? 'Webhook processed.' : 'Webhook ignored: not an email of this service.';
};
