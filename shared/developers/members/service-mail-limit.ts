import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { developerScope } from '../../auth/session-keys.ts';
import { onTable } from '../../clients/dynamo.ts';
import { clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';

/**
 * How many mails with words of developers' choice, such as the name of a project, the service sends a day (UTC) from
 * its own address: what it is known for, and the pace of everybody's other mails, shall not hang on how many accounts
 * somebody opens.
 */
export const serviceMailsPerDay = 2000;

const dayMs = 24 * 3600_000;

const number = (value: number) => ({ N: String(value) });

/** The key of the count of a moment's day. */
export const serviceMailsKey = (now: number) => ({
  pk: { S: developerScope },
  sk: { S: `service-mails#${new Date(now).toISOString().slice(0, 10)}` },
});

/** Counts such a mail, by one conditional write; the day is full → 429 `RATE_LIMITED`. */
export const countServiceMail = async (): Promise<void> => {
  const now = clock.now();
  const dayEnds = now - (now % dayMs) + dayMs;
  try {
    await onTable((client, TableName) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: serviceMailsKey(now),
          UpdateExpression: 'SET expiresAt = :end, lastCall = :call ADD sent :one',
          // The SDK repeats a write whose response was lost; the condition accepts its own earlier call.
          ConditionExpression: 'attribute_not_exists(sent) OR sent < :most OR lastCall = :call',
          ExpressionAttributeValues: {
            ':end': number((dayEnds + dayMs) / 1000),
            ':call': { S: randomUUID() },
            ':one': number(1),
            ':most': number(serviceMailsPerDay),
          },
        }),
      ),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    throw new AppError(
      'RATE_LIMITED',
      'This service has sent all the invitations of a day. Try again tomorrow (UTC).',
      {
        cause: error,
        retryAfter: Math.ceil((dayEnds - now) / 1000),
      },
    );
  }
};
