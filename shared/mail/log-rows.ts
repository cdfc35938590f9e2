import { type AttributeValue, ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Project } from '../projects/project.ts';
import { type Account, endOf, type Item, keyOf, limitOf, type MailUsage, monthOf, usedIn } from './month-item.ts';

const dayMs = 24 * 3600_000;

/** As many as nobody needs who sends what the plan allows, however much of it fails or is suppressed. */
const rowsPerMail = 4;

/** How many rows a project's log takes a day (UTC), those of mails that fail or are suppressed included. */
export const rowsPerDay = (project: Pick<Project, 'plan'>): number => rowsPerMail * limitOf(project);

/** The parts of an update of the month's item that count rows of the log against the day. */
export interface RowsToday {
  /** A term of `ADD`. */
  readonly add: string;
  /** The condition: that there is room for them. */
  readonly fits: string;
  readonly names: Record<string, string>;
  readonly values: Record<string, AttributeValue>;
  /** Whether an item has no room for them. */
  readonly isFull: (item: Item) => boolean;
}

/** Counts `rows` more; each day of the month has an attribute of its own. */
export const rowsToday = (project: Pick<Project, 'plan'>, rows: number): RowsToday => {
  const name = `rows${new Date(clock.now()).getUTCDate()}`;
  const room = rowsPerDay(project) - rows;
  return {
    add: '#rows :rows',
    fits: '(attribute_not_exists(#rows) OR #rows <= :rowRoom)',
    names: { '#rows': name },
    values: { ':rows': { N: String(rows) }, ':rowRoom': { N: String(room) } },
    isFull: (item) => Number(item?.[name]?.N ?? 0) > room,
  };
};

/** 429 `MAIL_QUOTA_EXCEEDED` until the day ends. */
export const rowsFull = (project: Pick<Project, 'plan'>): AppError => {
  const now = clock.now();
  return new AppError(
    'MAIL_QUOTA_EXCEEDED',
    `The mail log of this project takes ${rowsPerDay(project)} mails a day, those that failed or whose addresses are suppressed included. Try again tomorrow (UTC).`,
    { retryAfter: Math.ceil((dayMs - (now % dayMs)) / 1000) },
  );
};

/**
 * Counts rows of the log that take no slot, by one conditional update, and tells how the quota stands. No room for them
 * in the day → 429 `MAIL_QUOTA_EXCEEDED`. Where the first answer got lost they count twice.
 */
export const countRows = async (project: Account, rows: number): Promise<MailUsage> => {
  const month = monthOf(clock.now());
  const today = rowsToday(project, rows);
  try {
    const { Attributes } = await onTable((dynamo, table) =>
      dynamo.send(
        new UpdateItemCommand({
          TableName: table,
          Key: keyOf(project.id, month),
          UpdateExpression: `ADD ${today.add} SET expiresAt = :end`,
          ConditionExpression: today.fits,
          ExpressionAttributeNames: today.names,
          ExpressionAttributeValues: { ...today.values, ':end': endOf(month) },
          ReturnValues: 'ALL_NEW',
        }),
      ),
    );
    return { used: usedIn(Attributes), limit: limitOf(project) };
  } catch (error) {
    throw error instanceof ConditionalCheckFailedException ? rowsFull(project) : error;
  }
};
