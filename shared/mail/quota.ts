import { ObjectId } from 'mongodb';
import { clock, dayAt } from '../core/clock.ts';
import type { AppError } from '../core/errors.ts';
import { log } from '../core/log.ts';
import { countIn, heldIn, keep, newCall, peek, type Reservation, refund, reserve } from '../persistence/counters.ts';
import type { Item } from '../persistence/dynamo.ts';
import type { PlanName } from '../projects/project.ts';
import {
  type Account,
  countOf,
  monthCounter,
  monthKey,
  monthOf,
  quotaExceeded,
  type SharedUse,
  sharedCounters,
} from './limits.ts';
import { mailLogs } from './log.ts';

/** How a month's quota stands. */
export interface MailUsage {
  readonly used: number;
  readonly limit: number;
}

/** Slots of a month, taken for mails by their ids (24 hex characters). */
export interface QuotaReservation {
  readonly projectId: string;
  /** `yyyy-mm`, in UTC. */
  readonly month: string;
  readonly ids: readonly string[];
  /** Where the shared key sends them. */
  readonly shared?: SharedUse;
}

/** What else mails need than slots. */
export interface MailUse {
  /** How many rows the log gets, those of suppressed mails included; as many as mails unless said. */
  readonly rows?: number;
  /** Where the shared key sends them. */
  readonly shared?: Omit<SharedUse, 'day'>;
}

/** The slots, and the quota as the write told it; else why there are none, and which could still come back. */
type SlotsTaken =
  | { readonly taken: true; readonly slots: QuotaReservation; readonly usage: MailUsage | undefined }
  | { readonly taken: false; readonly refusal: AppError; readonly held: QuotaReservation };

/** As what a mail is held: its id, with the shared key also how many recipients it has. */
const heldAs = (id: string, shared: SharedUse | undefined): string => {
  const recipients = shared?.recipients[id];
  return recipients === undefined ? id : `${id}.${recipients}`;
};

/** What is held, as slots; those of the shared key come back only where its owner is known. */
const slotsOf = (
  projectId: string,
  month: string,
  held: readonly string[],
  owner: string | undefined,
): QuotaReservation => {
  const mails = held.map((text) => text.split('.'));
  const recipients = Object.fromEntries(
    mails.flatMap(([id = '', count]) => (count === undefined ? [] : [[id, Number(count)]])),
  );
  return {
    projectId,
    month,
    ids: mails.map(([id = '']) => id),
    ...(owner !== undefined && { shared: { owner, recipients } }),
  };
};

/** What these slots take; with `rows`, so many of the log too, which do not come back. */
const takingOf = (
  { projectId, month, ids, shared }: QuotaReservation,
  plan: PlanName = 'free',
  rows?: number,
): Reservation => ({
  call: newCall(),
  held: ids.map((id) => heldAs(id, shared)),
  tallies: [
    monthCounter(projectId, month, [
      countOf('used', ids.length, plan),
      ...(rows === undefined ? [] : [countOf('rows', rows, plan)]),
    ]),
    ...(shared ? sharedCounters(shared, ids, month, plan) : []),
  ],
});

const usageOf = (item: Item | undefined, { plan }: Account): MailUsage => {
  const { name, limit } = countOf('used', 0, plan);
  return { used: countIn(item, name), limit };
};

/**
 * Takes a slot of this month for each mail, and with the shared key what their recipients take of the owner's month and
 * the service's day, or nothing at all, by one conditional write. `ids` are 1 to 100. `usage` is missing with the
 * shared key, whose write does not tell it.
 */
export const reserveQuota = async (
  project: Account,
  ids: readonly string[],
  { rows = ids.length, shared }: MailUse = {},
): Promise<SlotsTaken> => {
  const { id: projectId, plan } = project;
  const now = clock.now();
  const month = monthOf(now);
  const slots = { projectId, month, ids, ...(shared && { shared: { ...shared, day: dayAt(now).name } }) };
  const outcome = await reserve(takingOf(slots, plan, rows));
  if (outcome.taken) return { taken: true, slots, usage: outcome.item && usageOf(outcome.item, project) };
  const held = slotsOf(projectId, month, heldIn(outcome.item), shared?.owner);
  return { taken: false, refusal: quotaExceeded(outcome.full ?? countOf('used', ids.length, plan)), held };
};

/** Counts rows that take no slot, by one conditional write; no room in the day → 429 `MAIL_QUOTA_EXCEEDED`. */
export const countRows = async (project: Account, rows: number): Promise<MailUsage> => {
  const count = countOf('rows', rows, project.plan);
  const tallies = [monthCounter(project.id, monthOf(clock.now()), [count])] as const;
  const outcome = await reserve({ call: newCall(), tallies });
  if (!outcome.taken) throw quotaExceeded(outcome.full ?? countOf('used', 0, project.plan));
  return usageOf(outcome.item, project);
};

/** These mails were sent: their slots stay counted and cannot come back any more. May be repeated. */
export const confirmQuota = async (slots: QuotaReservation): Promise<void> => {
  if (slots.ids.length > 0) await keep(takingOf(slots));
};

/** Gives back the slots of these mails, each once however often it is called; returns how many came back. */
export const refundQuota = async (slots: QuotaReservation): Promise<number> => {
  const { ids } = slots;
  if (ids.length === 0) return 0;
  if (await refund(takingOf(slots))) return ids.length;
  if (ids.length === 1) return 0;
  let count = 0;
  for (const id of ids) count += await refundQuota({ ...slots, ids: [id] });
  return count;
};

/** What the project has used of this month's quota (contract 6, "Usage"). */
export const mailUsage = async (project: Account): Promise<MailUsage> =>
  usageOf(await peek({ key: monthKey(project.id, monthOf(clock.now())) }, 'used'), project);

/** The mails whose slots of a month could still come back, to `owner` too where the shared key sends them. */
export const heldSlots = async (projectId: string, month: string, owner?: string): Promise<QuotaReservation> =>
  slotsOf(projectId, month, heldIn(await peek({ key: monthKey(projectId, month) }, 'held')), owner);

/** A mail without a log by then was never accepted. */
const patienceMs = 15 * 60_000;

/** The most that are looked at in one go. */
const maxSettled = 1000;

const isStale = (id: string): boolean => new ObjectId(id).getTimestamp().getTime() + patienceMs < clock.now();

/**
 * Settles slots that a crash left in `held`: those of failed or never accepted mails are returned, those of sent mails
 * stay counted. Returns how many were returned.
 */
export const finalizeHeldSlots = async ({ ids, ...slots }: QuotaReservation): Promise<number> => {
  const stale = ids.filter(isStale).slice(0, maxSettled);
  if (stale.length === 0) return 0;
  const rows = await mailLogs.find(
    { _id: { $in: stale.map((id) => new ObjectId(id)) } },
    { projection: { status: 1, 'job.slot': 1 } },
  );
  const known = new Map(rows.map((row) => [row._id.toHexString(), row]));
  const settled = stale.filter((id) => !known.get(id)?.job);
  const lost = settled.filter((id) => (known.get(id)?.status ?? 'failed') === 'failed');
  const sent = settled.filter((id) => !lost.includes(id));
  for (let start = 0; start < sent.length; start += 100) {
    await confirmQuota({ ...slots, ids: sent.slice(start, start + 100) });
  }
  let back = 0;
  for (let start = 0; start < lost.length; start += 100) {
    back += await refundQuota({ ...slots, ids: lost.slice(start, start + 100) });
  }
  if (back > 0) {
    const { projectId, month } = slots;
    log.warn({ message: 'Slots of the mail quota had been left behind', projectId, month, back });
  }
  return back;
};

/** Slots that were taken, and how the quota stands with them where that is known. */
interface HeldQuota {
  readonly slots: QuotaReservation;
  readonly usage: MailUsage | undefined;
}

/**
 * Takes a slot of the month's quota for each of 1 to 100 mails, and what else they need, or nothing and 429
 * `MAIL_QUOTA_EXCEEDED`. One conditional write; before it refuses, what crashes have left behind is given back.
 */
export const reserveSlots = async (project: Account, ids: readonly string[], use: MailUse = {}): Promise<HeldQuota> => {
  const first = await reserveQuota(project, ids, use);
  if (first.taken) return first;
  if (!first.held.ids.some(isStale)) throw first.refusal;
  await finalizeHeldSlots(first.held);
  const second = await reserveQuota(project, ids, use);
  if (second.taken) return second;
  throw second.refusal;
};
