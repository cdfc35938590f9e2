import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { addressKeyOf } from '../../accounts/email-tokens/email-token.ts';
import { developerScope } from '../../accounts/session-keys.ts';
import { onTable } from '../../clients/dynamo.ts';
import { clock, nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { newCall, take } from '../../table/counter.ts';
import { ownerKeyOf } from '../../table/keys.ts';
import { dayAt, expiryOf, secondsLeft } from '../../table/windows.ts';

const cooldownSeconds = 60;
const maxPerDay = 100;

const number = (value: number) => ({ N: String(value) });

const holdAddress = async (email: string): Promise<void> => {
  const now = nowSeconds();
  const call = { S: randomUUID() };
  try {
    await onTable((client, TableName) =>
      client.send(
        new PutItemCommand({
          TableName,
          Item: {
            pk: { S: developerScope },
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
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    throw new AppError(
      'RATE_LIMITED',
      'This address was sent an invitation less than a minute ago. Try again in a minute.',
      { cause: error, retryAfter: cooldownSeconds },
    );
  }
};

/**
 * Enforces the limits on invitation mails: one per address and minute, whoever sends it, and 100 per developer and day,
 * whichever account they have with their address. Over either → 429 `RATE_LIMITED`; each is decided by one conditional
 * write.
 */
export const countInvitation = async (inviterEmail: string, email: string): Promise<void> => {
  const now = clock.now();
  const day = dayAt(now);
  await holdAddress(email);
  const { taken } = await take({
    call: newCall(),
    tallies: [
      {
        key: { pk: developerScope, sk: `invitations#${ownerKeyOf(inviterEmail)}#${day.name}` },
        expiresAt: expiryOf(day),
        counts: [{ name: 'sent', weight: 1, limit: maxPerDay }],
      },
    ],
  });
  if (taken) return;
  throw new AppError('RATE_LIMITED', `You have sent ${maxPerDay} invitations today. Try again tomorrow.`, {
    retryAfter: secondsLeft(day, now),
  });
};
