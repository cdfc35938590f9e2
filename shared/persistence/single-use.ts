import { randomUUID } from 'node:crypto';
import { nowSeconds } from '../core/clock.ts';
import type { Item, Values } from './dynamo.ts';
import type { Key } from './item-keys.ts';
import { write } from './table.ts';

/** An item of the table that can be consumed once, and the condition under which it can. */
export interface SingleUse {
  readonly key: Key;
  readonly condition: string;
  readonly values: Values;
}

/** A successful consumption: the item, and the `id` by which it can be undone. */
export interface Consumption<T = Item> {
  readonly key: Key;
  readonly item: T;
  readonly id: string;
}

/**
 * Consumes an item by one conditional write: exactly one of any number of parallel callers succeeds; the others, and
 * all callers if the condition fails, get `undefined`. The item is kept until it expires, because the client repeats a
 * write whose response was lost and must then find its own consumption.
 */
export const consumeItem = async <T = Item>({
  key,
  condition,
  values,
}: SingleUse): Promise<Consumption<T> | undefined> => {
  const id = randomUUID();
  const { done, item } = await write<T>(
    {
      update: key,
      change: 'SET usedBy = :use',
      // A delayed first attempt must not consume again what its caller has restored since.
      condition: `${condition} AND (attribute_not_exists(usedBy) OR usedBy = :use) AND NOT contains(restored, :use)`,
      values: { ...values, use: id },
    },
    'ALL_NEW',
  );
  return done && item ? { key, item, id } : undefined;
};

/** How long attempts are counted for an item that does not exist yet. */
const triesSeconds = 600;

/**
 * Counts an attempt before its value is compared, so that concurrent guesses are counted; `undefined` if the condition
 * fails. A retry after a lost response succeeds. `also`: another attribute that counts it, `#also` in the condition.
 */
export const countTry = async <T = Item>(
  { key, condition, values }: SingleUse,
  also?: string,
): Promise<T | undefined> => {
  const { done, item } = await write<T>(
    {
      update: key,
      change: `SET expiresAt = if_not_exists(expiresAt, :expiry), lastTry = :try ADD tries :one${also === undefined ? '' : ', #also :one'}`,
      condition: `(${condition}) OR lastTry = :try`,
      ...(also !== undefined && { names: { also } }),
      values: { ...values, one: 1, expiry: nowSeconds() + triesSeconds, try: randomUUID() },
    },
    'ALL_NEW',
  );
  return done ? item : undefined;
};

/** Undoes a consumption that had no effect; another caller's is left alone. */
export const restoreItem = async ({ key, id }: Pick<Consumption, 'key' | 'id'>): Promise<void> => {
  await write({
    update: key,
    change: 'REMOVE usedBy ADD restored :uses',
    condition: 'usedBy = :use',
    values: { use: id, uses: new Set([id]) },
  });
};
