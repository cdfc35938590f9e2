import { ObjectId } from 'mongodb';
import * as v from 'valibot';
import { clock, nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { isSignable, isSigned, projectSecrets, type SignedDelivery, sharedSecrets } from './event-signature.ts';
import { type MailLog, type MailStatus, mailLogs, mailTag } from './log.ts';
import { canonicalAddress, suppress } from './suppressions.ts';

/** What the provider's events make of a mail's status (contract 5, "Webhook"). */
const statusAfter: ReadonlyMap<string, MailStatus> = new Map([
  ['email.sent', 'sent'],
  ['email.delivered', 'delivered'],
  ['email.bounced', 'bounced'],
  ['email.complained', 'complained'],
  ['email.delivery_delayed', 'queued'],
]);

/** Every status that an event leaves, the weakest first: a repeated or late event does not replace a later one. */
const rankedStatuses = [
  'sent',
  'queued',
  'delivered',
  'bounced',
  'complained',
] as const satisfies readonly MailStatus[];

/**
 * How much a status says about a mail, from 1; 0 for one that no event leaves. A mail may be delivered after a transient
 * bounce, which ranks just below.
 */
const rankOf = (status: MailStatus, isTransient = false): number =>
  status === 'bounced' && isTransient
    ? rankOf('delivered') - 0.5
    : (rankedStatuses as readonly string[]).indexOf(status) + 1;

interface MailEvent {
  /** The delivery's `svix-id` or `webhook-id`, the same however often it is delivered. */
  readonly id: string;
  readonly status: MailStatus;
  /** When it happened, by the provider's own clock. */
  readonly at: Date;
  readonly providerEmailId: string;
  /** The addresses that it is about; empty where it names none. */
  readonly to: readonly string[];
  /** The log's id, where we gave it to the provider. */
  readonly logId: string | undefined;
  /** A bounce that another try may heal. */
  readonly isTransient: boolean;
  /** What the receiving server said, where the event tells. */
  readonly reason: string | undefined;
}

const text = v.string();

/** What does not fit counts as left out: no event of the provider's is worth refusing for a detail. */
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
      // A record would take arrays as well, so they come first.
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

/** `undefined` for events of other kinds and for what is no event; `sentAt` stands in for a missing time. */
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

/** More than a mail ever has; the provider repeats an event for some days only. */
const rememberedEvents = 50;

/** How long after it happened an event may still be about a mail whose row is on its way into the log. */
const patienceMs = 10 * 60_000;

const literal = <T>(value: T): { readonly $literal: T } => ({ $literal: value });

/**
 * The mail that an event is about: the one with the provider's id, else the one whose id we gave the provider as a tag.
 * What a project's own account says is about mails that the project sent with its own key, and no others.
 */
const findMail = async ({ providerEmailId, logId }: MailEvent, projectId: string | null): Promise<MailLog | null> => {
  const theirs = projectId === null ? {} : { projectId: ObjectId.createFromHexString(projectId), usingByok: true };
  const known = await mailLogs.findOne({ providerEmailId: { $eq: providerEmailId }, ...theirs });
  if (known || logId === undefined) return known;
  const _id = ObjectId.createFromHexString(logId);
  return mailLogs.findOne({ _id, providerEmailId: { $exists: false }, ...theirs });
};

/** The recipients of the mail that the event names; all of them where it names none. */
const affected = ({ to }: MailEvent, mail: MailLog): readonly string[] => {
  const named = new Set(to.map(canonicalAddress));
  return named.size === 0 ? mail.to : mail.to.filter((address) => named.has(canonicalAddress(address)));
};

const suppressAffected = async (event: MailEvent, mail: MailLog): Promise<void> => {
  const { status, isTransient, providerEmailId } = event;
  if (mail.projectId === null || (status !== 'complained' && (status !== 'bounced' || isTransient))) return;
  await suppress(mail.projectId.toHexString(), affected(event, mail), { reason: status, providerEmailId });
};

/** The rank of the event that a row has, 0 without one. Rows from before ranks were stored have only its status. */
const presentRank = {
  $cond: [
    { $eq: [{ $type: '$lastEventAt' }, 'missing'] },
    0,
    { $ifNull: ['$eventRank', { $add: [{ $indexOfArray: [rankedStatuses, '$status'] }, 1] }] },
  ],
};

/**
 * Writes the event into the row: its id always, what it says only if it outranks the event that the row has, or has the
 * same rank and happened no earlier. An id that is there already changes nothing, so deliveries may be repeated and
 * come in any order.
 */
const record = ({ _id }: MailLog, event: MailEvent): Promise<unknown> => {
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
        eventIds: { $slice: [{ $concatArrays: [known, literal([event.id])] }, -rememberedEvents] },
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
 * Applies an event to its mail by one conditional update, and suppresses the addresses of a hard bounce or complaint
 * before it: a crash between the two is healed by the next delivery. `projectId` is given where a project's own account
 * signed. False without a mail of ours; 503 `EVENT_TOO_EARLY` where it may not be in the log yet.
 */
const applyEvent = async (event: MailEvent, projectId: string | null): Promise<boolean> => {
  const mail = await findMail(event, projectId);
  if (!mail) {
    if (event.logId === undefined || clock.now() - event.at.getTime() > patienceMs) return false;
    throw new AppError('EVENT_TOO_EARLY', 'The email of this event is not logged yet. Send the event again.');
  }
  if (mail.eventIds?.includes(event.id)) return true;
  await suppressAffected(event, mail);
  await record(mail, event);
  return true;
};

/** Largest body that is looked at; events have a few KiB. */
const maxBytes = 1024 * 1024;

/** A delivery whose signature holds, and whose own account signed it: `null` for the one that all share. */
export interface CheckedDelivery extends SignedDelivery {
  readonly projectId: string | null;
}

const badSignature = (): AppError =>
  new AppError('INVALID_SIGNATURE', 'The signature does not match the body, or is more than 5 minutes old.');

const requireSigned = (delivery: SignedDelivery, secrets: readonly Buffer[]): void => {
  if (delivery.body.length > maxBytes) throw new AppError('BODY_TOO_LARGE', 'The body is larger than 1 MiB.');
  if (!isSigned(delivery, secrets, nowSeconds())) throw badSignature();
};

/**
 * Judges a delivery by its bytes: too large → 413 `BODY_TOO_LARGE`, not signed by the account that all projects share,
 * or not now → 400 `INVALID_SIGNATURE`. Without a secret to judge it by → `not configured`.
 */
export const checkDelivery = async (delivery: SignedDelivery): Promise<CheckedDelivery | 'not configured'> => {
  const secrets = await sharedSecrets();
  if (secrets.length === 0) return 'not configured';
  requireSigned(delivery, secrets);
  return { ...delivery, projectId: null };
};

/**
 * The same for a delivery of a project's own account; a project that has set no secret, or is none, is refused
 * likewise. What nobody can have signed is refused before the project is looked up.
 */
export const checkProjectDelivery = async (delivery: SignedDelivery, projectId: string): Promise<CheckedDelivery> => {
  if (!isSignable(delivery, nowSeconds())) throw badSignature();
  requireSigned(delivery, await projectSecrets(projectId));
  return { ...delivery, projectId };
};

/** Carries out what a checked delivery says; returns what was done, in the words of the contract. */
export const receiveWebhook = async (delivery: CheckedDelivery | 'not configured'): Promise<string> => {
  if (delivery === 'not configured') return 'Webhook ignored: secret not configured.';
  const { id = '', timestamp, body, projectId } = delivery;
  const event = parseEvent(id, body, new Date(Number(timestamp) * 1000));
  if (!event) return 'Webhook ignored: no event that changes a mail.';
  return (await applyEvent(event, projectId)) ? 'Webhook processed.' : 'Webhook ignored: no mail of this service.';
};
