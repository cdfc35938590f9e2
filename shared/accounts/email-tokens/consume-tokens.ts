import { randomUUID, timingSafeEqual } from 'node:crypto';
import { nowSeconds } from '../../core/clock.ts';
import { write } from '../../table/item.ts';
import { type Consumption, consumeItem } from '../../table/single-use.ts';
import type { SessionScope } from '../session-keys.ts';
import { type EmailTokenKind, hashCode, parseCode, parseLinkToken } from './email-token.ts';
import { codeSeconds } from './issue-tokens.ts';
import { placeName, type TokenItem, type TokenPlace, tokenItemKey } from './token-item.ts';

/** Whose address a token was sent to. */
export interface TokenOwner {
  readonly userId: string;
  readonly email: string;
}

/** A token or code that its caller has used up, and whose it is. */
export interface ConsumedToken {
  readonly owner: TokenOwner;
  readonly use: Consumption<TokenItem>;
}

const codeTries = 5;

const ownerOf = ({ userId, email }: TokenItem): TokenOwner | undefined =>
  userId === undefined || email === undefined ? undefined : { userId, email };

/**
 * Uses up token and code together, where `attribute` is `hash` and still good; exactly one of any number of callers
 * wins.
 */
const consume = async (
  place: TokenPlace,
  attribute: 'tokenHash' | 'codeHash',
  hash: string,
): Promise<ConsumedToken | undefined> => {
  const expiry = attribute === 'tokenHash' ? 'expiresAt' : 'codeExpiresAt';
  const use = await consumeItem<TokenItem>({
    key: tokenItemKey(place),
    condition: `${attribute} = :hash AND ${expiry} > :now`,
    values: { hash, now: nowSeconds() },
  });
  const owner = use && ownerOf(use.item);
  return owner && { owner, use };
};

/** Whose link token this is, used up from now on; `undefined` for any that is wrong, used or expired. */
export const consumeToken = async (
  scope: SessionScope,
  kind: EmailTokenKind,
  token: string,
): Promise<ConsumedToken | undefined> => {
  const parsed = parseLinkToken(token);
  return parsed && consume({ scope, kind, addressKey: parsed.addressKey }, 'tokenHash', parsed.hash);
};

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/**
 * One more try; returns the item, or `undefined` where there were enough. A second write after a lost answer is let
 * through.
 */
const countTry = async (place: TokenPlace): Promise<TokenItem | undefined> => {
  const { done, item } = await write<TokenItem>(
    {
      update: tokenItemKey(place),
      change: 'SET expiresAt = if_not_exists(expiresAt, :expiry), lastTry = :try ADD tries :one',
      condition: 'attribute_not_exists(tries) OR tries < :most OR lastTry = :try',
      values: { one: 1, most: codeTries, expiry: nowSeconds() + codeSeconds, try: randomUUID() },
    },
    'ALL_NEW',
  );
  return done ? item : undefined;
};

/**
 * Whose code this is, used up from now on; `undefined` for any that is wrong, used or expired. A try is counted before
 * the code is looked at, so that of any number of parallel guesses five are; for an address without a code it is
 * counted too, because a write that is refused is faster than one that is made.
 */
export const consumeCode = async (place: TokenPlace, typed: string): Promise<ConsumedToken | undefined> => {
  const code = parseCode(typed);
  if (code === undefined) return undefined;
  const hash = await hashCode(code, placeName(place));
  const item = await countTry(place);
  return isSame(item?.codeHash ?? '', hash) ? consume(place, 'codeHash', hash) : undefined;
};
