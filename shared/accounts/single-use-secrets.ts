import { hash, randomBytes } from 'node:crypto';
import { nowSeconds } from '../core/clock.ts';
import type { Item, Values } from '../persistence/dynamo.ts';
import type { Key } from '../persistence/item-keys.ts';
import { consumeItem } from '../persistence/single-use.ts';
import { write } from '../persistence/table.ts';
import type { SessionScope } from './sessions.ts';

export const sha256 = (text: string): string => hash('sha256', text, 'base64url');

/** 256 random bits in base64url. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** True if the text has the format of `randomSecret`. */
export const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** Removes white space and invisible characters, which mail programs and chats add. */
export const normalizeToken = (copied: string): string => copied.replace(/[\s\p{Cf}]/gu, '');

const maxTypedLength = 40;

/** Upper case without spaces and dashes; full-width letters become ASCII. Empty if too long. */
export const normalizeCode = (typed: string): string =>
  typed.length > maxTypedLength
    ? ''
    : normalizeToken(typed.normalize('NFKC'))
        .replace(/[\p{Pd}\u2212]/gu, '')
        .toUpperCase();

/** A kind of single-use secrets, stored by their hash. */
export interface SecretKind {
  readonly keyOf: (scope: SessionScope, hash: string) => Key;
  readonly seconds: number;
}

/** Returns a secret that stands for `values`. */
export const issueSecret = async (
  { keyOf, seconds }: SecretKind,
  scope: SessionScope,
  values: Values,
  secret = randomSecret(),
): Promise<string> => {
  const put = { ...keyOf(scope, sha256(secret)), ...values, expiresAt: nowSeconds() + seconds };
  // An existing item was written by this call: a late retry must not make a used secret valid again.
  await write({ put, condition: 'attribute_not_exists(pk)' });
  return secret;
};

/** For exactly one concurrent caller, if it stands for the `expected` values (`undefined`: missing). */
export const consumeSecret = async <T = Item>(
  { keyOf }: SecretKind,
  scope: SessionScope,
  secret: string,
  expected: Values = {},
): Promise<T | undefined> => {
  const isExpected = Object.entries(expected).map(([name, value]) =>
    value === undefined ? `attribute_not_exists(${name})` : `${name} = :${name}`,
  );
  const used = await consumeItem<T>({
    key: keyOf(scope, sha256(secret)),
    condition: [...isExpected, 'expiresAt > :now'].join(' AND '),
    values: { ...expected, now: nowSeconds() },
  });
  return used?.item;
};
