import { createHash } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { sourceOf } from '../projects/quota/rate-source.ts';
import type { SessionScope } from './session-keys.ts';

/** A password log-in that someone tries: the account, as its address in one project, and where from. */
export interface Attempt {
  readonly scope: SessionScope;
  /** Canonical e-mail address. */
  readonly address: string;
  readonly ip: string;
}

interface Limit {
  readonly key: (attempt: Attempt) => readonly string[];
  readonly failures: number;
  readonly windowSeconds: number;
}

const fromOnePlace: Limit = {
  key: ({ scope, address, ip }) => [scope, address, sourceOf(ip)],
  failures: 5,
  windowSeconds: 15 * 60,
};
const fromAnywhere: Limit = { key: ({ scope, address }) => [scope, address], failures: 100, windowSeconds: 60 * 60 };

const itemKey = (limit: Limit, attempt: Attempt) => ({
  pk: {
    S: `lock#${createHash('sha256')
      .update(JSON.stringify(limit.key(attempt)))
      .digest('base64url')}`,
  },
  sk: { S: 'failures' },
});

const locked = (seconds: number): AppError =>
  new AppError(
    'ACCOUNT_LOCKED',
    `Too many failed attempts to log in. Try again in ${Math.ceil(seconds / 60)} minutes.`,
    { retryAfter: seconds },
  );

const number = (value: number) => ({ N: String(value) });

type Change = Omit<UpdateItemCommandInput, 'TableName' | 'Key'>;

type Item = Readonly<Record<string, AttributeValue>>;

/** Changes the count of an attempt by one conditional write; the item as it is where the condition does not hold. */
const change = async (limit: Limit, attempt: Attempt, by: Change): Promise<Item | undefined> => {
  try {
    await onTable((client, TableName) =>
      client.send(new UpdateItemCommand({ TableName, Key: itemKey(limit, attempt), ...by })),
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return error.Item ?? {};
  }
};

/**
 * One more in the window that runs; the end of that window where it is full or over; `undefined` where it was counted.
 */
const countInWindow = async (limit: Limit, attempt: Attempt, now: number): Promise<number | undefined> => {
  const refused = await change(limit, attempt, {
    UpdateExpression: 'SET expiresAt = if_not_exists(expiresAt, :end) ADD failures :one',
    ConditionExpression: 'attribute_not_exists(pk) OR (failures < :limit AND expiresAt > :now)',
    ExpressionAttributeValues: {
      ':end': number(now + limit.windowSeconds),
      ':one': number(1),
      ':limit': number(limit.failures),
      ':now': number(now),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  return refused && Number(refused.expiresAt?.N ?? 0);
};

/** Opens a new window where the old one is over; of parallel callers one does, and the others go on to count in it. */
const openWindow = async (limit: Limit, attempt: Attempt, now: number): Promise<void> => {
  await change(limit, attempt, {
    UpdateExpression: 'SET expiresAt = :end, failures = :none',
    ConditionExpression: 'expiresAt <= :now',
    ExpressionAttributeValues: {
      ':end': number(now + limit.windowSeconds),
      ':none': number(0),
      ':now': number(now),
    },
  });
};

const count = async (limit: Limit, attempt: Attempt): Promise<void> => {
  const now = nowSeconds();
  let end = await countInWindow(limit, attempt, now);
  if (end !== undefined && end <= now) {
    await openWindow(limit, attempt, now);
    end = await countInWindow(limit, attempt, now);
  }
  if (end !== undefined) throw locked(Math.max(1, end - now));
};

/**
 * Counts a log-in as failed before its password is looked at, so that parallel guesses cannot slip through (contract 3,
 * "Login"): the sixth failure for an address from one place in 15 minutes, or the 101st from anywhere in an hour, is
 * 429 `ACCOUNT_LOCKED`.
 */
export const countAttempt = async (attempt: Attempt): Promise<void> => {
  await count(fromOnePlace, attempt);
  await count(fromAnywhere, attempt);
};

/** Takes a log-in that succeeded out of the counts: clears those of its place, and its own one of the address. */
export const forgiveAttempt = async (attempt: Attempt): Promise<void> => {
  const change = (limit: Limit, UpdateExpression: string, subtract: Record<string, { N: string }>) =>
    onTable((client, TableName) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: itemKey(limit, attempt),
          UpdateExpression,
          ConditionExpression: 'failures > :none',
          ExpressionAttributeValues: { ':none': number(0), ...subtract },
        }),
      ),
    ).catch((error: unknown) => {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    });
  await Promise.all([
    change(fromOnePlace, 'SET failures = :none', {}),
    change(fromAnywhere, 'ADD failures :minusOne', { ':minusOne': number(-1) }),
  ]);
};
