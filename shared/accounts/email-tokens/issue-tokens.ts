import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../../clients/dynamo.ts';
import { nowSeconds } from '../../core/clock.ts';
import { conditionalWrite } from '../../table/conditional-write.ts';
import { type EmailTokenKind, hashCode, newCode, newLinkToken, parseCode, parseLinkToken } from './email-token.ts';
import { number, placeName, type TokenPlace, tokenItemKey } from './token-item.ts';

/** The token and the code of a new mail; both are stored as hashes only. */
export interface IssuedTokens {
  readonly token: string;
  readonly code: string;
  /** False within a minute of the previous mail, which then stays valid; these are not stored. */
  readonly isGood: boolean;
}

/** How long a link is good, in seconds. */
const tokenSeconds: Readonly<Record<EmailTokenKind, number>> = { verify: 24 * 3600, reset: 3600 };

/** How long a code is good, in seconds. */
export const codeSeconds = 600;

const cooldownSeconds = 60;

/**
 * Creates the token and the code of a mail, replacing those of an earlier mail unless it is less than a minute old. For
 * an address without an account (`userId` missing) it does the same work, and does not delay a later mail.
 */
export const issueTokens = async (
  place: TokenPlace,
  email: string,
  userId: string | undefined,
): Promise<IssuedTokens> => {
  const now = nowSeconds();
  const { token, hash } = newLinkToken(place.addressKey);
  const code = newCode();
  const Item = {
    ...tokenItemKey(place),
    email: { S: email },
    ...(userId === undefined ? {} : { userId: { S: userId } }),
    tokenHash: { S: hash },
    codeHash: { S: await hashCode(parseCode(code) ?? '', placeName(place)) },
    codeExpiresAt: number(now + codeSeconds),
    tries: number(0),
    issuedAt: number(now),
    expiresAt: number(now + tokenSeconds[place.kind]),
  };
  const put = await conditionalWrite(
    onTable((client, TableName) =>
      client.send(
        new PutItemCommand({
          TableName,
          Item,
          // The SDK repeats a write whose response was lost; the condition accepts the item that the first one wrote.
          ConditionExpression: 'attribute_not_exists(userId) OR issuedAt <= :earlier OR tokenHash = :hash',
          ExpressionAttributeValues: { ':earlier': number(now - cooldownSeconds), ':hash': { S: hash } },
        }),
      ),
    ),
  );
  return { token, code, isGood: put !== undefined };
};

/**
 * Ends the cooldown, because the mail with this token could not be sent; the cooldown of a later mail is left alone.
 */
export const endCooldown = async (place: TokenPlace, token: string): Promise<void> => {
  const hash = parseLinkToken(token)?.hash ?? '';
  await conditionalWrite(
    onTable((client, TableName) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: tokenItemKey(place),
          UpdateExpression: 'SET issuedAt = :never',
          ConditionExpression: 'tokenHash = :hash',
          ExpressionAttributeValues: { ':never': number(0), ':hash': { S: hash } },
        }),
      ),
    ),
  );
};
