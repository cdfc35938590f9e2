import { hash, randomBytes } from 'node:crypto';
import { nowSeconds } from '../core/clock.ts';
import type { Item, Values } from '../persistence/dynamo.ts';
import type { Key } from '../persistence/item-keys.ts';
import { consumeItem } from '../persistence/single-use.ts';
import { write } from '../persistence/table.ts';
import type { SessionScope } from './sessions.ts';

/** A text as it is stored or compared in place of a secret: SHA-256 in base64url. */
export const sha256 = (text: string): string => hash('sha256', text, 'base64url');

/** 256 random bits in base64url. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** Whether a text can be one of `randomSecret`. */
export const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** A token as it was copied, without white space and invisible characters, which mail programs and chats add. */
export const normalizeToken = (copied: string): string => copied.replace(/[\s\p{Cf}]/gu, '');

const longestTyped = 40;

/**
 * A code as it was typed, without white space, invisible characters and dashes of any kind, in capital letters; what is
 * too long to be one is empty. Full-width letters and digits are read as ASCII.
 */
export const normalizeCode = (typed: string): string =>
  typed.length > longestTyped
    ? ''
    : normalizeToken(typed.normalize('NFKC'))
        .replace(/[\p{Pd}\u2212]/gu, '')
        .toUpperCase();

/** Secrets that are given out to be used once: the item of each is found by its hash, and holds what it stands for. */
export interface OneTime {
  readonly keyOf: (scope: SessionScope, hash: string) => Key;
  /** How long one is good. */
  readonly seconds: number;
}

/** Gives out a secret that stands for these values. */
export const issueSecret = async (
  { keyOf, seconds }: OneTime,
  scope: SessionScope,
  values: Values,
  secret = randomSecret(),
): Promise<string> => {
  const put = { ...keyOf(scope, sha256(secret)), ...values, expiresAt: nowSeconds() + seconds };
  // What is there already was written by this very call: an attempt that arrives late makes no used one good again.
  await write({ put, condition: 'attribute_not_exists(pk)' });
  return secret;
};

/**
 * Uses a secret up and returns its item: for one of any number of parallel callers. One that stands for other values
 * than these, of which `undefined` is none, is not used up.
 */
export const consumeSecret = async <T = Item>(
  { keyOf }: OneTime,
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
