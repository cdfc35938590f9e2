import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { addressKeyOf } from '../../auth/email-tokens/email-token.ts';
import { developerScope } from '../../auth/session-keys.ts';
import { onTable } from '../../clients/dynamo.ts';
import { nowSeconds } from '../../clock.ts';
import { AppError } from '../../errors.ts';

const cooldownSeconds = 60;
const daySeconds = 24 * 3600;
const maxPerDay = 100;

const number = (value: number) => ({ N: String(value) });

const refusal = (message: string, retryAfter: number) => (error: unknown) => {
  if (!(error instanceof ConditionalCheckFailedException)) throw error;
  throw new AppError('RATE_LIMITED', message, { cause: error, retryAfter });
};

/**
 * Enforces the limits on invitation mails: one per address and minute, whoever sends it, and 100 per developer and day.
 * Over either → 429 `RATE_LIMITED`; each is decided by one conditional write.
 */
export const countInvitation = async (developerId: string, email: string): Promise<void> => {
  const now = nowSeconds();
  const day = now - (now % daySeconds);
  const pk = { S: developerScope };
  const call = { S: randomUUID() };
  await onTable((client, TableName) =>
    client.send(
      new PutItemCommand({
        TableName,
        Item: {
          pk,
          sk: { S: `invited#${addressKeyOf(email)}` },
          issuedAt: number(now),
          expiresAt: number(now + cooldownSeconds),
          call,
        },
        // The SDK repeats a write whose response was lost; the condition accepts the item that the first one wrote.
        ConditionExpression: 'attribute_not_exists(pk) OR issuedAt <= :earlier OR #call = :call',
        ExpressionAttributeNames: { '#call': 'call' },
        ExpressionAttributeValues: { ':earlier': number(now - cooldownSeconds), ':call': call },
      }),
    ),
  ).catch(
    refusal('This address was sent an invitation less than a minute ago. Try again in a minute.', cooldownSeconds),
  );
  await onTable((client, TableName) =>
    client.send(
      new UpdateItemCommand({
        TableName,
        Key: { pk, sk: { S: `invitations#${developerId}#${day}` } },
        UpdateExpression: 'SET expiresAt = :end, lastCall = :call ADD sent :one',
        ConditionExpression: 'attribute_not_exists(sent) OR sent < :most OR lastCall = :call',
        ExpressionAttributeValues: {
          ':end': number(day + daySeconds),
          ':one': number(1),
          ':most': number(maxPerDay),
          ':call': call,
        },
      }),
    ),
  ).catch(refusal(`You have sent ${maxPerDay} invitations today. Try again tomorrow.`, day + daySeconds - now));
};
