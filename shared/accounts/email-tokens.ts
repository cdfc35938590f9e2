import { createHmac, hash, randomBytes, randomInt } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { clock, hourAt, nowSeconds } from '../core/clock.ts';
import { validationFailed } from '../core/errors.ts';
import { isAddress, unreachable } from '../core/schemas.ts';
import { counterIn, newCall, reserve } from '../persistence/counters.ts';
import { itemKey, type Key } from '../persistence/item-keys.ts';
import { type Consumption, consumeItem, countTry } from '../persistence/single-use.ts';
import { write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { derivedKey } from '../projects/sealed.ts';
import { sourceOf } from '../rate-limit/rate-limit.ts';
import type { SessionScope } from './sessions.ts';
import { normalizeCode, normalizeToken, sha256 } from './single-use-secrets.ts';

/** Purpose of an emailed token. */
export type EmailTokenKind = 'verify' | 'reset' | 'code' | 'change';

type CodeKey = 'email codes' | 'recovery codes';

const keyBytes = 16;
const secretBytes = 32;
const wellFormedToken = /^[A-Za-z0-9_-]{64}$/;

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeLength = 8;
const wellFormedCode = new RegExp(`^[${alphabet}]{${codeLength}}$`);

/** First half of the SHA-256, base64url. */
export const addressKeyOf = (email: string): string =>
  hash('sha256', email, 'buffer').toString('base64url', 0, keyBytes);

/** Includes the user, so that no account can replace or try another's request. */
export const changeKeyOf = (userId: string, email: string): string => addressKeyOf(`${email}\n${userId}`);

/** base64url of the address key and 256 random bits. Only the hash is stored. */
export const newLinkToken = (addressKey: string): { readonly token: string; readonly hash: string } => {
  const token = Buffer.concat([Buffer.from(addressKey, 'base64url'), randomBytes(secretBytes)]).toString('base64url');
  return { token, hash: sha256(token) };
};

/** `undefined` for malformed tokens. */
export const parseLinkToken = (copied: string) => {
  const token = normalizeToken(copied);
  if (!wellFormedToken.test(token)) return undefined;
  const addressKey = Buffer.from(token, 'base64url').toString('base64url', 0, keyBytes);
  return { addressKey, hash: sha256(token) };
};

export const newCode = (): string => {
  const letters = Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
};

/** `undefined` if it cannot be a code. */
export const parseCode = (typed: string): string | undefined => {
  const letters = normalizeCode(typed);
  return wellFormedCode.test(letters) ? letters : undefined;
};

/** Keyed, because 40 bits could be guessed from a plain hash; bound to `place`. */
export const hashCode = async (code: string, place: string, key: CodeKey = 'email codes'): Promise<string> =>
  createHmac('sha256', await derivedKey(key))
    .update(`${place}\n${code}`)
    .digest('base64url');

/** Identifies an email: users of a project or developers, its kind and its address. */
export interface TokenPlace {
  readonly scope: SessionScope;
  readonly kind: EmailTokenKind;
  readonly addressKey: string;
}

/** Hashes of the latest email; times in seconds since 1970. Attempts for unknown addresses create it too. */
export type TokenItem = Key & {
  readonly email?: string;
  /** Missing without an account. */
  readonly userId?: string;
  readonly tokenHash?: string;
  readonly codeHash?: string;
  readonly codeExpiresAt?: number;
  readonly tries: number;
  readonly issuedAt?: number;
  readonly expiresAt: number;
};

export const tokenItemKey = ({ scope, kind, addressKey }: TokenPlace): Key =>
  itemKey(kinds.emailToken, scope, { kind, addressKey });

/** A code is bound to this place. */
const placeName = ({ scope, kind, addressKey }: TokenPlace): string => `${scope}/${kind}/${addressKey}`;

export type IssuedTokens = Awaited<ReturnType<typeof issueTokens>>;

export const codeSeconds = 600;

const tokenSeconds: Readonly<Record<EmailTokenKind, number>> = {
  verify: 24 * 3600,
  reset: 3600,
  change: 3600,
  code: codeSeconds,
};

const cooldownSeconds = 60;

/**
 * Creates token and code; only hashes are stored. They replace earlier ones, unless those are unused and less than a
 * minute old: then `isGood` is false and nothing is stored. Without `userId` the same work is done, but later emails
 * are not delayed.
 */
export const issueTokens = async (place: TokenPlace, email: string, userId: string | undefined) => {
  const now = nowSeconds();
  const { token, hash } = newLinkToken(place.addressKey);
  const code = newCode();
  const item: TokenItem = {
    ...tokenItemKey(place),
    email,
    ...(userId !== undefined && { userId }),
    tokenHash: hash,
    codeHash: await hashCode(parseCode(code) ?? '', placeName(place)),
    codeExpiresAt: now + codeSeconds,
    tries: 0,
    issuedAt: now,
    expiresAt: now + tokenSeconds[place.kind],
  };
  const { done } = await write({
    put: item,
    // The client repeats a write whose response was lost; the condition accepts the item of the first attempt, unless
    // it was used since. A first attempt that arrives late must not replace what was issued after it.
    condition:
      'attribute_not_exists(userId) OR issuedAt <= :earlier OR (tokenHash = :hash AND attribute_not_exists(usedBy)) OR (attribute_exists(usedBy) AND issuedAt < :now)',
    values: { earlier: now - cooldownSeconds, hash, now },
  });
  return { token, code, isGood: done };
};

/** After an email that could not be sent; a later email's cooldown stays. */
export const endCooldown = async (place: TokenPlace, token: string): Promise<void> => {
  const hash = parseLinkToken(token)?.hash ?? '';
  await write({
    update: tokenItemKey(place),
    change: 'SET issuedAt = :never',
    condition: 'tokenHash = :hash',
    values: { never: 0, hash },
  });
};

/** `owner` matches the account as long as it has this address. */
export interface ConsumedToken {
  readonly owner: { readonly _id: ObjectId; readonly email: { readonly $eq: string } };
  readonly use: Consumption<TokenItem>;
}

/** Limits per code: per client, and for all clients together, so that others cannot use up the owner's attempts. */
const codeTries = 5;
const codeTriesFromAnywhere = 100;

/** Attribute that counts attempts of a client. */
const triesFrom = (ip: string): string => `tries_${hash('sha256', sourceOf(ip), 'base64url').slice(0, 12)}`;

/** With `userId`, proofs of other accounts are not consumed. */
export interface ProofSource {
  readonly ip: string;
  readonly userId?: string;
}

/** Consumes token and code together; exactly one concurrent caller succeeds. */
const consume = async (
  place: TokenPlace,
  attribute: 'tokenHash' | 'codeHash',
  hash: string,
  { userId: expected }: ProofSource,
): Promise<ConsumedToken | undefined> => {
  const expiry = attribute === 'tokenHash' ? 'expiresAt' : 'codeExpiresAt';
  const use = await consumeItem<TokenItem>({
    key: tokenItemKey(place),
    condition: `${attribute} = :hash AND ${expiry} > :now${expected === undefined ? '' : ' AND userId = :user'}`,
    values: { hash, now: nowSeconds(), ...(expected !== undefined && { user: expected }) },
  });
  const { userId, email } = use?.item ?? {};
  if (!use || userId === undefined || email === undefined) return undefined;
  return { owner: { _id: new ObjectId(userId), email: { $eq: email } }, use };
};

/** Consumes a link token; `undefined` if it is wrong, used or expired. */
export const consumeToken = async (
  scope: SessionScope,
  kind: EmailTokenKind,
  token: string,
  from: ProofSource,
): Promise<ConsumedToken | undefined> => {
  const parsed = parseLinkToken(token);
  return parsed && consume({ scope, kind, addressKey: parsed.addressKey }, 'tokenHash', parsed.hash, from);
};

/**
 * Consumes a code; `undefined` if it is wrong, used or expired. Allows 5 attempts per client and 100 in all. Attempts
 * without a code are counted too, because a rejected write is faster.
 */
export const consumeCode = async (
  place: TokenPlace,
  typed: string,
  from: ProofSource,
): Promise<ConsumedToken | undefined> => {
  const code = parseCode(typed);
  if (code === undefined) return undefined;
  const hash = await hashCode(code, placeName(place));
  const item = await countTry<TokenItem>(
    {
      key: tokenItemKey(place),
      condition:
        '(attribute_not_exists(#also) OR #also < :most) AND (attribute_not_exists(tries) OR tries < :mostFromAnywhere)',
      values: { most: codeTries, mostFromAnywhere: codeTriesFromAnywhere },
    },
    triesFrom(from.ip),
  );
  return item?.codeHash === hash ? consume(place, 'codeHash', hash, from) : undefined;
};

const changeMailsPerHour = 10;

/** Many accounts may request the same address: false after ten emails in an hour. */
export const countChangeMail = async (scope: SessionScope, email: string): Promise<boolean> => {
  const hour = hourAt(clock.now());
  const key = itemKey(kinds.changeMails, scope, { addressKey: addressKeyOf(email), hour: hour.name });
  const counter = counterIn(hour, key, { name: 'sent', weight: 1, limit: changeMailsPerHour });
  return (await reserve({ call: newCall(), tallies: [counter] })).taken;
};

/** Trimmed and in lower case. */
export const canonicalEmail = (address: string): string => address.trim().toLowerCase();

/** Canonical address for a new account. Throws 400 `VALIDATION_FAILED`. */
export const checkEmail = (value: unknown): string => {
  const address = typeof value === 'string' ? canonicalEmail(value) : '';
  if (!isAddress(address)) throw validationFailed({ field: 'email', message: `email ${unreachable}` });
  return address;
};
