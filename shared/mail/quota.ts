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

export interface MailUsage {
  readonly used: number;
  readonly limit: number;
}

export interface QuotaReservation {
  readonly projectId: string;
  /** `yyyy-mm` in UTC. */
  readonly month: string;
  readonly ids: readonly string[];
  /** Only with the shared key. */
  readonly shared?: SharedUse;
}

export interface MailUse {
  /** Log entries, suppressed ones included; by default one per email. */
  readonly rows?: number;
  /** Only with the shared key. */
  readonly shared?: Omit<SharedUse, 'day'>;
}

/** `usage` as the write returned it; `held`: slots that may be refundable. */
type SlotReservation =
  | { readonly taken: true; readonly slots: QuotaReservation; readonly usage: MailUsage | undefined }
  | { readonly taken: false; readonly refusal: AppError; readonly held: QuotaReservation };

/** `<id>`, with the shared key `<id>.<recipients>`. */
const heldEntry = (id: string, shared: SharedUse | undefined): string => {
  const recipients = shared?.recipients[id];
  return recipients === undefined ? id : `${id}.${recipients}`;
};

/** Without `owner`, counts of the shared key are not refunded. */
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

/** `rows` are log entries, which are never refunded. */
const reservationOf = (
  { projectId, month, ids, shared }: QuotaReservation,
  plan: PlanName = 'free',
  rows?: number,
): Reservation => ({
  call: newCall(),
  held: ids.map((id) => heldEntry(id, shared)),
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

/** 1 to 100 emails, all or nothing, in one conditional write. With the shared key `usage` is undefined. */
export const reserveQuota = async (
  project: Account,
  ids: readonly string[],
  { rows = ids.length, shared }: MailUse = {},
): Promise<SlotReservation> => {
  const { id: projectId, plan } = project;
  const now = clock.now();
  const month = monthOf(now);
  const slots = { projectId, month, ids, ...(shared && { shared: { ...shared, day: dayAt(now).name } }) };
  const outcome = await reserve(reservationOf(slots, plan, rows));
  if (outcome.taken) return { taken: true, slots, usage: outcome.item && usageOf(outcome.item, project) };
  const held = slotsOf(projectId, month, heldIn(outcome.item), shared?.owner);
  return { taken: false, refusal: quotaExceeded(outcome.full ?? countOf('used', ids.length, plan)), held };
};

/** Counts log entries without slots. Throws 429 `MAIL_QUOTA_EXCEEDED`. */
export const countRows = async (project: Account, rows: number): Promise<MailUsage> => {
  const count = countOf('rows', rows, project.plan);
  const tallies = [monthCounter(project.id, monthOf(clock.now()), [count])] as const;
  const outcome = await reserve({ call: newCall(), tallies });
  if (!outcome.taken) throw quotaExceeded(outcome.full ?? countOf('used', 0, project.plan));
  return usageOf(outcome.item, project);
};

/** Marks slots as used, so that they can no longer be refunded. Can be repeated. */
export const confirmQuota = async (slots: QuotaReservation): Promise<void> => {
  if (slots.ids.length > 0) await keep(reservationOf(slots));
};

/** Refunds slots, each once. Returns how many. */
export const refundQuota = async (slots: QuotaReservation): Promise<number> => {
  const { ids } = slots;
  if (ids.length === 0) return 0;
  if (await refund(reservationOf(slots))) return ids.length;
  if (ids.length === 1) return 0;
  let count = 0;
  for (const id of ids) count += await refundQuota({ ...slots, ids: [id] });
  return count;
};

export const mailUsage = async (project: Account): Promise<MailUsage> =>
  usageOf(await peek({ key: monthKey(project.id, monthOf(clock.now())) }, 'used'), project);

/** Slots of a month that can still be refunded. */
export const heldSlots = async (projectId: string, month: string, owner?: string): Promise<QuotaReservation> =>
  slotsOf(projectId, month, heldIn(await peek({ key: monthKey(projectId, month) }, 'held')), owner);

/** An email without a log entry by then was never accepted. */
const patienceMs = 15 * 60_000;

const maxFinalized = 1000;

const isStale = (id: string): boolean => new ObjectId(id).getTimestamp().getTime() + patienceMs < clock.now();

/** Refunds slots of failed or never accepted emails and confirms the others. Returns the number of refunds. */
export const finalizeHeldSlots = async ({ ids, ...slots }: QuotaReservation): Promise<number> => {
  const stale = ids.filter(isStale).slice(0, maxFinalized);
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

interface HeldQuota {
  readonly slots: QuotaReservation;
  readonly usage: MailUsage | undefined;
}

/** 1 to 100 emails. Throws 429 `MAIL_QUOTA_EXCEEDED`, but first refunds slots that crashes left behind. */
export const reserveSlots = async (project: Account, ids: readonly string[], use: MailUse = {}): Promise<HeldQuota> => {
  const first = await reserveQuota(project, ids, use);
  if (first.taken) return first;
  if (!first.held.ids.some(isStale)) throw first.refusal;
  await finalizeHeldSlots(first.held);
  const second = await reserveQuota(project, ids, use);
  if (second.taken) return second;
  throw second.refusal;
};
