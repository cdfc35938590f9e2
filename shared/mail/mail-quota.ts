import {
  type AttributeValue,
  ConditionalCheckFailedException,
  GetItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { rowsFull, rowsToday } from './log-rows.ts';
import { type Account, endOf, heldIn, keyOf, limitOf, type MailUsage, monthOf, usedIn } from './month-item.ts';

/** Slots of a month, taken for mails by their ids (24 hex characters). */
export interface Slots {
  readonly projectId: string;
  /** `yyyy-mm`, in UTC. */
  readonly month: string;
  readonly ids: readonly string[];
}

/** The longest that a caller is told to wait: a plan can change, and slots come back. */
const maxRetryAfterSeconds = 24 * 3600;

const secondsLeft = (month: string): number => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return Math.ceil((Date.UTC(year, number) - clock.now()) / 1000);
};

/** 429 `MAIL_QUOTA_EXCEEDED`, until the month ends or for a day, whichever is sooner. */
export const quotaExceeded = (limit: number, month: string): AppError =>
  new AppError(
    'MAIL_QUOTA_EXCEEDED',
    `The monthly mail quota of this project is used up: its plan allows ${limit} mails a month. Wait for the next month, or change the plan.`,
    { retryAfter: Math.max(1, Math.min(maxRetryAfterSeconds, secondsLeft(month))) },
  );

/** The month's slots for these mails, if there is room for all; else the mails whose slots could still come back. */
export type SlotsTaken =
  | { readonly taken: true; readonly slots: Slots; readonly usage: MailUsage }
  | { readonly taken: false; readonly month: string; readonly limit: number; readonly held: readonly string[] };

/**
 * Takes a slot of this month for each mail, or none at all, by one conditional update. `ids` are 1 to 100; `rows` is
 * how many rows the log gets, those of suppressed mails included. No room for these in the day → 429
 * `MAIL_QUOTA_EXCEEDED`.
 */
export const takeSlots = async (project: Account, ids: readonly string[], rows = ids.length): Promise<SlotsTaken> => {
  const month = monthOf(clock.now());
  const limit = limitOf(project);
  const today = rowsToday(project, rows);
  const [first = ''] = ids;
  const taken = (used: number): SlotsTaken => ({
    taken: true,
    slots: { projectId: project.id, month, ids },
    usage: { used, limit },
  });
  if (ids.length > limit) return { taken: false, month, limit, held: [] };
  try {
    const { Attributes } = await onTable((dynamo, table) =>
      dynamo.send(
        new UpdateItemCommand({
          TableName: table,
          Key: keyOf(project.id, month),
          UpdateExpression: `ADD used :count, held :ids, ${today.add} SET expiresAt = :end`,
          ConditionExpression: `(attribute_not_exists(used) OR used <= :room) AND NOT contains(held, :first) AND ${today.fits}`,
          ExpressionAttributeNames: today.names,
          ExpressionAttributeValues: {
            ...today.values,
            ':count': { N: String(ids.length) },
            ':room': { N: String(limit - ids.length) },
            ':ids': { SS: [...ids] },
            ':first': { S: first },
            ':end': endOf(month),
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    return taken(usedIn(Attributes));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // The SDK repeats a call whose response was lost; the first one may already have taken the slots.
    const held = heldIn(error.Item);
    if (held.includes(first)) return taken(usedIn(error.Item));
    if (today.isFull(error.Item)) throw rowsFull(project);
    return { taken: false, month, limit, held };
  }
};

interface HeldUpdate {
  readonly change: string;
  readonly condition: string;
  readonly values: Record<string, AttributeValue>;
}

/** Removes the ids of these mails from `held`; false if the condition failed. */
const updateHeld = async (
  { projectId, month, ids }: Slots,
  { change, condition, values }: HeldUpdate,
): Promise<boolean> => {
  try {
    await onTable((dynamo, table) =>
      dynamo.send(
        new UpdateItemCommand({
          TableName: table,
          Key: keyOf(projectId, month),
          UpdateExpression: change,
          ConditionExpression: condition,
          ExpressionAttributeValues: { ':ids': { SS: [...ids] }, ...values },
        }),
      ),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

/** These mails were sent: their slots stay counted and cannot come back any more. May be repeated. */
export const keepSlots = async (slots: Slots): Promise<void> => {
  if (slots.ids.length === 0) return;
  await updateHeld(slots, { change: 'DELETE held :ids', condition: 'attribute_exists(held)', values: {} });
};

/**
 * Gives back the slots of these mails, each once however often and by however many it is called. Returns how many came
 * back.
 */
export const giveSlotsBack = async (slots: Slots): Promise<number> => {
  const { ids } = slots;
  if (ids.length === 0) return 0;
  const back = await updateHeld(slots, {
    change: 'DELETE held :ids ADD used :less',
    condition: ids.map((_, index) => `contains(held, :id${index})`).join(' AND '),
    values: {
      ':less': { N: String(-ids.length) },
      ...Object.fromEntries(ids.map((id, index) => [`:id${index}`, { S: id }])),
    },
  });
  if (back) return ids.length;
  if (ids.length === 1) return 0;
  let count = 0;
  for (const id of ids) count += await giveSlotsBack({ ...slots, ids: [id] });
  return count;
};

/** What the project has used of this month's quota (contract 6, "Usage"). */
export const mailUsage = async (project: Account): Promise<MailUsage> => {
  const { Item } = await onTable((dynamo, table) =>
    dynamo.send(
      new GetItemCommand({
        TableName: table,
        Key: keyOf(project.id, monthOf(clock.now())),
        ConsistentRead: true,
        ProjectionExpression: 'used',
      }),
    ),
  );
  return { used: usedIn(Item), limit: limitOf(project) };
};

/** The mails whose slots of a month could still come back. */
export const heldSlots = async (projectId: string, month: string): Promise<Slots> => {
  const { Item } = await onTable((dynamo, table) =>
    dynamo.send(
      new GetItemCommand({
        TableName: table,
        Key: keyOf(projectId, month),
        ConsistentRead: true,
        ProjectionExpression: 'held',
      }),
    ),
  );
  return { projectId, month, ids: heldIn(Item) };
};
