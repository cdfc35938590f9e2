import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { type MailLog, mailLogs } from '../mail-log.ts';
import { canonicalAddress, suppress } from '../suppressions.ts';
import { type MailEvent, rankedStatuses, rankOf } from './event.ts';

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
export const applyEvent = async (event: MailEvent, projectId: string | null): Promise<boolean> => {
  const mail = await findMail(event, projectId);
  if (!mail) {
    if (event.logId === undefined || clock.now() - event.at.getTime() > patienceMs) return false;
    throw new AppError('EVENT_TOO_EARLY', 'The mail of this event is not known yet. Please send the event again.');
  }
  if (mail.eventIds?.includes(event.id)) return true;
  await suppressAffected(event, mail);
  await record(mail, event);
  return true;
};
