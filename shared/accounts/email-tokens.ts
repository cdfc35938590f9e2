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

/**
 * What a mail's token is good for: to verify an address, to set a password anew, to sign in, or to change the address.
 */
export type EmailTokenKind = 'verify' | 'reset' | 'code' | 'change';

type CodeKey = 'email codes' | 'recovery codes';

const keyBytes = 16;
const secretBytes = 32;
const wellFormedToken = /^[A-Za-z0-9_-]{64}$/;

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeLength = 8;
const wellFormedCode = new RegExp(`^[${alphabet}]{${codeLength}}$`);

/** The name of an address in the keys of its items: half of its SHA-256, in base64url. */
export const addressKeyOf = (email: string): string =>
  hash('sha256', email, 'buffer').toString('base64url', 0, keyBytes);

/** The same of a change of address: one account cannot replace or try out what another one asked for. */
export const changeKeyOf = (userId: string, email: string): string => addressKeyOf(`${email}\n${userId}`);

/** A new token for a link: base64url of the address's key and 256 random bits. Only its hash is ever stored. */
export const newLinkToken = (addressKey: string): { readonly token: string; readonly hash: string } => {
  const token = Buffer.concat([Buffer.from(addressKey, 'base64url'), randomBytes(secretBytes)]).toString('base64url');
  return { token, hash: sha256(token) };
};

/** The item that a link token names, and the hash that must be stored there; `undefined` for what cannot be a token. */
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

/** The letters of a code as typed; `undefined` where it cannot be one. */
export const parseCode = (typed: string): string | undefined => {
  const letters = normalizeCode(typed);
  return wellFormedCode.test(letters) ? letters : undefined;
};

/** The stored form of a code: keyed, as forty bits could be guessed from a plain hash, and bound to `place`. */
export const hashCode = async (code: string, place: string, key: CodeKey = 'email codes'): Promise<string> =>
  createHmac('sha256', await derivedKey(key))
    .update(`${place}\n${code}`)
    .digest('base64url');

/**
 * Which mail: of what kind, to which address (by its key; of a change also for which account), of a project's users or
 * of developers.
 */
export interface TokenPlace {
  readonly scope: SessionScope;
  readonly kind: EmailTokenKind;
  readonly addressKey: string;
}

/** What the latest mail carried, as hashes; times in seconds since 1970. A try for an unknown address makes it too. */
export type TokenItem = Key & {
  readonly email?: string;
  /** Missing for an address that has no account. */
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

/** The name of a place that the hash of a code is bound to. */
const placeName = ({ scope, kind, addressKey }: TokenPlace): string => `${scope}/${kind}/${addressKey}`;

/** The token and the code of a new mail. */
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
 * Creates the token and the code of a mail, of which hashes alone are stored. They replace those of an earlier mail
 * unless it is less than a minute old and stays valid: then `isGood` is false, and these are not stored. For an address
 * without an account (`userId` missing) it does the same work, and does not delay a later mail.
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
    // The client repeats a write whose response was lost; the condition accepts the item that the first one wrote, but
    // none that was used since.
    condition:
      'attribute_not_exists(userId) OR issuedAt <= :earlier OR (tokenHash = :hash AND attribute_not_exists(usedBy))',
    values: { earlier: now - cooldownSeconds, hash },
  });
  return { token, code, isGood: done };
};

/** Ends the cooldown, because the mail with this token could not be sent; that of a later mail stays. */
export const endCooldown = async (place: TokenPlace, token: string): Promise<void> => {
  const hash = parseLinkToken(token)?.hash ?? '';
  await write({
    update: tokenItemKey(place),
    change: 'SET issuedAt = :never',
    condition: 'tokenHash = :hash',
    values: { never: 0, hash },
  });
};

/** A token or code that its caller has used up; `owner` matches whose it is while the address is still theirs. */
export interface ConsumedToken {
  readonly owner: { readonly _id: ObjectId; readonly email: { readonly $eq: string } };
  readonly use: Consumption<TokenItem>;
}

/** Tries of one code: from one place, and from all together, of whom others cannot use up those of its owner. */
const codeTries = 5;
const codeTriesFromAnywhere = 100;

/** The attribute that counts tries from a place. */
const triesFrom = (ip: string): string => `tries_${hash('sha256', sourceOf(ip), 'base64url').slice(0, 12)}`;

/** Where a proof comes from; with `userId` it must be of that account, else it is not used up. */
export interface ProofSource {
  readonly ip: string;
  readonly userId?: string;
}

/** Uses up token and code together if `attribute` is `hash` and still good; exactly one of all callers wins. */
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

/** Whose link token this is, used up from now on; `undefined` for any that is wrong, used or expired. */
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
 * Whose code this is, used up from now on; `undefined` for any that is wrong, used or expired. Five tries from a place
 * and 100 from anywhere are let through; for an address without a code they are counted too, because a write that is
 * refused is faster than one that is made.
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

/** Counts a mail of a change to an address, which many accounts may ask for; false if it has had ten in this hour. */
export const countChangeMail = async (scope: SessionScope, email: string): Promise<boolean> => {
  const hour = hourAt(clock.now());
  const key = itemKey(kinds.changeMails, scope, { addressKey: addressKeyOf(email), hour: hour.name });
  const counter = counterIn(hour, key, { name: 'sent', weight: 1, limit: changeMailsPerHour });
  return (await reserve({ call: newCall(), tallies: [counter] })).taken;
};

/** The form in which addresses are compared and stored: trimmed, lower case. */
export const canonicalEmail = (address: string): string => address.trim().toLowerCase();

/** The canonical form of an address that a new account wants; 400 `VALIDATION_FAILED` where mail could not reach it. */
export const checkEmail = (value: unknown): string => {
  const address = typeof value === 'string' ? canonicalEmail(value) : '';
  if (!isAddress(address)) throw validationFailed({ field: 'email', message: `email ${unreachable}` });
  return address;
};
