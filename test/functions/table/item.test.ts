import { randomUUID } from 'node:crypto';
import type { BatchWriteItemInput } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Item } from '../../../shared/persistence/dynamo.ts';
import type { Key } from '../../../shared/persistence/item-keys.ts';
import { deleteAll, get, getTogether, list, maxDeleted, transact, write } from '../../../shared/persistence/table.ts';
import { inParallel } from '../../support/clients/client.ts';
import { answerForAws } from '../../support/faults/aws-answers.ts';
import { loseFirstAnswers } from '../../support/faults/lost-answers.ts';

// Throttled calls are retried without a wait.
vi.mock('node:timers/promises', () => ({ setTimeout: async () => undefined }));

let key: Key;
beforeEach(() => {
  key = { pk: `item-test#${randomUUID()}`, sk: 'one' };
});
afterEach(() => {
  vi.restoreAllMocks();
});

const isNew = 'attribute_not_exists(pk)';

describe('values', () => {
  test.each([
    ['text', 'Ada'],
    ['text of no length', ''],
    ['text beyond ASCII', 'Zoë 🦊'],
    ['a whole number', 42],
    ['zero', 0],
    ['a number below zero with a fraction', -1.5],
    ['a time in milliseconds', 1_790_000_000_123],
    ['the largest exact number', Number.MAX_SAFE_INTEGER],
    ['a set of texts', new Set(['a', 'b#1'])],
  ])('%s is read back unchanged', async (_title, value) => {
    await write({ put: { ...key, value } });
    expect(await get(key)).toEqual({ ...key, value });
  });

  test('an attribute is not stored when it is undefined', async () => {
    await write({ put: { ...key, value: undefined } });
    expect(await get(key)).toEqual(key);
  });

  test('a read returns undefined when the item does not exist', async () => {
    expect(await get(key)).toBeUndefined();
  });

  test('a read returns only the named attributes when some are named', async () => {
    await write({ put: { ...key, name: 'a', 'n|["x"]': 2, other: 3 } });
    expect(await get(key, ['name', 'n|["x"]'])).toEqual({ name: 'a', 'n|["x"]': 2 });
  });
});

describe('a write', () => {
  test('changes attributes when their names are reserved words or invalid names', async () => {
    const change = 'SET #name = :name, #until = :until ADD #count :one';
    const names = { count: 'n|a b' };
    const values = { name: 'b', until: 5, one: 1 };
    const written = await write({ update: key, change, names, values }, 'ALL_NEW');
    expect(written).toEqual({ done: true, item: { ...key, name: 'b', until: 5, 'n|a b': 1 } });
    const again = { update: key, change, names, values, condition: '#until < :until' };
    expect((await write(again)).done).toBe(false);
  });

  test('returns done: false and the stored item when its condition fails', async () => {
    await write({ put: { ...key, owner: 'first' } });
    const found = { done: false, item: { ...key, owner: 'first' } };
    expect(await write({ put: { ...key, owner: 'second' }, condition: isNew })).toEqual(found);
    const owner = { condition: '#owner = :owner', values: { owner: 'second' } };
    expect(await write({ delete: key, ...owner })).toEqual(found);
    expect(await write({ update: key, change: 'SET #owner = :owner', ...owner })).toEqual(found);
    expect(await get(key)).toEqual(found.item);
  });

  test('returns no item when its condition fails because the item is missing', async () => {
    const written = await write({ update: key, change: 'SET n = :n', condition: 'n = :n', values: { n: 1 } });
    expect(written).toEqual({ done: false, item: undefined });
  });

  test('returns nothing, the changed attributes, or the item before or after, as requested', async () => {
    await write({ put: { ...key, n: 1, m: 1 } });
    const add = { update: key, change: 'ADD n :one', values: { one: 1 } };
    expect(await write(add)).toEqual({ done: true, item: undefined });
    expect((await write(add, 'UPDATED_NEW')).item).toEqual({ n: 3 });
    expect((await write(add, 'ALL_NEW')).item).toEqual({ ...key, n: 4, m: 1 });
    expect((await write({ delete: key }, 'ALL_OLD')).item).toEqual({ ...key, n: 4, m: 1 });
  });

  test('one of 50 concurrent updates succeeds when the condition allows one', async () => {
    const written = await inParallel(50, () => write({ put: key, condition: isNew }));
    expect(written.filter(({ done }) => done)).toHaveLength(1);
  });

  test('succeeds after a lost response only when its condition accepts its own first attempt', async () => {
    loseFirstAnswers();
    const mine = { put: { ...key, call: 'a' }, condition: `${isNew} OR #call = :call`, values: { call: 'a' } };
    expect((await write(mine)).done).toBe(true);
    const other = { ...key, sk: 'other' };
    expect(await write({ put: other, condition: isNew })).toEqual({ done: false, item: other });
  });
});

describe('a transaction', () => {
  const at = (sk: string): Key => ({ ...key, sk });

  test('puts, changes, deletes and checks items together', async () => {
    for (const sk of ['changed', 'deleted', 'checked']) await write({ put: { ...at(sk), n: 1 } });
    const refused = await transact([
      { put: { ...at('put'), value: 'new' }, condition: isNew },
      { update: at('changed'), change: 'ADD n :one', values: { one: 1 } },
      { delete: at('deleted'), condition: 'n = :one', values: { one: 1 } },
      { check: at('checked'), condition: 'n = :one', values: { one: 1 } },
    ]);
    expect(refused).toBeUndefined();
    const items = await getTogether([at('put'), at('changed'), at('deleted'), at('checked')]);
    expect(items.map((item) => item && (item.value ?? item.n))).toEqual(['new', 2, undefined, 1]);
  });

  test('changes nothing and names the condition and the stored item when one condition fails', async () => {
    await write({ put: { ...key, n: 1 } });
    const refused = await transact<Item>([
      { put: at('put'), condition: isNew },
      { check: key, condition: 'n = :two', values: { two: 2 } },
    ]);
    expect(refused).toEqual([
      { refused: false, item: undefined },
      { refused: true, item: { ...key, n: 1 } },
    ]);
    expect(await get(at('put'))).toBeUndefined();
  });
});

describe('a range', () => {
  const fill = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await write({ put: { ...key, sk: `${n % 2 ? 'odd' : 'even'}#${n}`, n } });
  };
  const sorts = (items: readonly Item[]) => items.map(({ n }) => n);

  test('returns the items of a partition, with a prefix, or before a sort key', async () => {
    await fill(6);
    const { pk: partition } = key;
    expect(sorts(await list({ partition }))).toEqual([0, 2, 4, 1, 3, 5]);
    expect(sorts(await list({ partition, only: { prefix: 'odd#' } }))).toEqual([1, 3, 5]);
    expect(sorts(await list({ partition, only: { before: 'odd#3' } }))).toEqual([0, 2, 4, 1]);
    expect(sorts(await list({ partition, only: { prefix: 'odd#' }, newestFirst: true, most: 2 }))).toEqual([5, 3]);
    expect(await list({ partition, only: { prefix: 'odd#5' }, keysOnly: true })).toEqual([{ ...key, sk: 'odd#5' }]);
  });

  test('is read to its end or limit when one read does not return all of it', async () => {
    const big = 'x'.repeat(300_000);
    for (let n = 0; n < 6; n++) await write({ put: { ...key, sk: String(n), n, big } });
    expect(sorts(await list({ partition: key.pk }))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(sorts(await list({ partition: key.pk, most: 5 }))).toEqual([0, 1, 2, 3, 4]);
    expect(await list({ partition: `${key.pk}#empty` })).toEqual([]);
  });
});

describe('deleting many', () => {
  const keys = async (): Promise<Key[]> => {
    const made = Array.from({ length: maxDeleted }, (_, n) => ({ ...key, sk: String(n) }));
    for (const each of made) await write({ put: each });
    return made;
  };

  /** The table is too busy for half of each batch, `times` times. */
  const busy = (times: number): void => {
    let left = times;
    answerForAws(async ({ operation, input }, send) => {
      if (operation !== 'BatchWriteItem' || left-- <= 0) return send({ operation, input });
      const { RequestItems } = input as Partial<BatchWriteItemInput>;
      const [[table = '', requests = []] = []] = Object.entries(RequestItems ?? {});
      const half = Math.floor(requests.length / 2);
      if (half > 0) await send({ operation, input: { RequestItems: { [table]: requests.slice(0, half) } } });
      return { UnprocessedItems: { [table]: requests.slice(half) } };
    });
  };

  test('a batch retries items when the table is too busy', async () => {
    const all = await keys();
    busy(2);
    expect(await deleteAll(all)).toBe(true);
    expect(await list({ partition: key.pk })).toEqual([]);
  });

  test('a batch fails after six attempts when the table stays busy', async () => {
    const all = await keys();
    busy(6);
    expect(await deleteAll(all)).toBe(false);
    expect(await list({ partition: key.pk })).not.toEqual([]);
  });
});
