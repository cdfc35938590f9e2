import { timingSafeEqual } from 'node:crypto';
import { type AttributeValue, UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { onTable } from '../../clients/dynamo.ts';
import { nowSeconds } from '../../clock.ts';
import type { SessionScope } from '../session-keys.ts';
import { type EmailTokenKind, hashCode, parseCode, parseLinkToken } from './email-token.ts';
import { codeSeconds } from './issue-tokens.ts';
import { decided, number, placeName, type TokenPlace, tokenItemKey } from './token-item.ts';

/** Whose address a token was sent to. */
export interface TokenOwner {
  readonly userId: string;
  readonly email: string;
}

const codeTries = 5;

const update = (input: Omit<UpdateItemCommandInput, 'TableName'>) =>
  decided(onTable((client, TableName) => client.send(new UpdateItemCommand({ TableName, ...input }))));

const ownerOf = (item: Record<string, AttributeValue> | undefined): TokenOwner | undefined => {
  const userId = item?.userId?.S;
  const email = item?.email?.S;
  return userId === undefined || email === undefined ? undefined : { userId, email };
};

/** Uses up token and code together, where `attribute` is `hash` and still good; exactly one of any number of callers wins. */
const consume = async (
  place: TokenPlace,
  attribute: 'tokenHash' | 'codeHash',
  hash: string,
): Promise<TokenOwner | undefined> => {
  const expiry = attribute === 'tokenHash' ? 'expiresAt' : 'codeExpiresAt';
  return ownerOf(
    await update({
      Key: tokenItemKey(place),
      UpdateExpression: 'REMOVE tokenHash, codeHash',
      ConditionExpression: `${attribute} = :hash AND ${expiry} > :now`,
      ExpressionAttributeValues: { ':hash': { S: hash }, ':now': number(nowSeconds()) },
      ReturnValues: 'ALL_OLD',
    }),
  );
};

/** Whose link token this is, used up from now on; `undefined` for any that is wrong, used or expired. */
export const consumeToken = async (
  scope: SessionScope,
  kind: EmailTokenKind,
  token: string,
): Promise<TokenOwner | undefined> => {
  const parsed = parseLinkToken(token);
  return parsed && consume({ scope, kind, addressKey: parsed.addressKey }, 'tokenHash', parsed.hash);
};

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/**
 * Whose code this is, used up from now on; `undefined` for any that is wrong, used or expired. A try is counted before the
 * code is looked at, so that of any number of parallel guesses five are; for an address without a code it is counted too,
 * because a write that is refused is faster than one that is made.
 */
export const consumeCode = async (place: TokenPlace, typed: string): Promise<TokenOwner | undefined> => {
  const code = parseCode(typed);
  if (code === undefined) return undefined;
  const hash = await hashCode(code, placeName(place));
  const item = await update({
    Key: tokenItemKey(place),
    UpdateExpression: 'SET expiresAt = if_not_exists(expiresAt, :expiry) ADD tries :one',
    ConditionExpression: 'attribute_not_exists(tries) OR tries < :most',
    ExpressionAttributeValues: {
      ':one': number(1),
      ':most': number(codeTries),
      ':expiry': number(nowSeconds() + codeSeconds),
    },
    ReturnValues: 'ALL_NEW',
  });
  return isSame(item?.codeHash?.S ?? '', hash) ? consume(place, 'codeHash', hash) : undefined;
};
