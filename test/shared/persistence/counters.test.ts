import { describe, expect, test } from 'vitest';
import { dayAt } from '../../../shared/core/clock.ts';
import {
  type Counter,
  counterIn,
  keep,
  newCall,
  type Reservation,
  refund,
  reserve,
  reserveOne,
} from '../../../shared/persistence/counters.ts';
import { itemKey, ownerScope, projectScope } from '../../../shared/persistence/item-keys.ts';
import * as kinds from '../../../shared/persistence/table-keys.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, read } = useMemoryTable();
const minuteMs = 60_000;
const firstKey = itemKey(kinds.mailMonth, projectScope('a'.repeat(24)), { month: 'any' });
const otherKey = itemKey(kinds.ownerMails, ownerScope('any'), { month: 'any' });

const counterOf = (key: Counter['key'], numbers: Readonly<Record<string, number>>, limit: number): Counter =>
  counterIn(dayAt(time.now), key, ...Object.entries(numbers).map(([name, weight]) => ({ name, weight, limit })));

interface Wanted {
  readonly n?: number;
  readonly other?: number;
  readonly held?: readonly string[];
}

/** Reserves `n` of 5, and with `other` so many of 3 in a second item. */
const reservationOf = ({ n = 1, other, held }: Wanted = {}): Reservation => ({
  call: newCall(),
  tallies: [counterOf(firstKey, { n }, 5), ...(other === undefined ? [] : [counterOf(otherKey, { m: other }, 3)])],
  ...(held && { held }),
});

const taken = async (wanted?: Wanted): Promise<Reservation> => {
  const reservation = reservationOf(wanted);
  expect(await reserve(reservation)).toMatchObject({ taken: true });
  return reservation;
};
const numbers = async () => [Number((await read(firstKey))?.n ?? 0), Number((await read(otherKey))?.m ?? 0)];

describe('a reservation', () => {
  test('fills a number up to its limit, and the full number is returned', async () => {
    await taken({ n: 2 });
    await taken({ n: 3 });
    expect(await reserve(reservationOf())).toMatchObject({
      taken: false,
      full: { name: 'n', limit: 5 },
      item: { n: 5 },
    });
    expect(await numbers()).toEqual([5, 0]);
  });

  test('of exactly the limit fits, and of more does not even write', async () => {
    expect(await reserve(reservationOf({ n: 6 }))).toEqual({
      taken: false,
      full: { name: 'n', weight: 6, limit: 5 },
      item: undefined,
    });
    expect(await read(firstKey)).toBeUndefined();
    await taken({ n: 5 });
  });

  test('of two items takes both or none, and the full number of the second is returned', async () => {
    await taken({ n: 2, other: 3 });
    expect(await reserve(reservationOf({ n: 2, other: 1 }))).toMatchObject({ taken: false, full: { name: 'm' } });
    expect(await numbers()).toEqual([2, 3]);
  });

  test('of two numbers of an item needs room in both', async () => {
    const both = (n: number, m: number) => reserve({ call: newCall(), tallies: [counterOf(firstKey, { n, m }, 5)] });
    expect(await both(4, 5)).toMatchObject({ taken: true });
    expect(await both(1, 1)).toMatchObject({ taken: false, full: { name: 'm' } });
    expect(await both(2, 0)).toMatchObject({ taken: false, full: { name: 'n' } });
    expect(await read(firstKey)).toMatchObject({ n: 4, m: 5 });
  });

  test('that is repeated counts one time, also after others and in the next minute', async () => {
    time.now += 59_000;
    const first = await taken({ n: 2 });
    time.now += minuteMs;
    await taken();
    expect(await reserve(first)).toMatchObject({ taken: true });
    expect(await numbers()).toEqual([3, 0]);
  });

  test('that is repeated with a full second item is still taken', async () => {
    const first = await taken({ n: 1, other: 3 });
    expect(await reserve(first)).toMatchObject({ taken: true });
    expect(await numbers()).toEqual([1, 3]);
  });

  test('with held ids that are reserved already counts one time', async () => {
    await taken({ n: 2, held: ['a', 'b'] });
    await taken({ n: 2, held: ['a', 'b'] });
    expect(await numbers()).toEqual([2, 0]);
    await taken({ n: 2, held: ['c', 'd'] });
    expect(await numbers()).toEqual([4, 0]);
  });

  test('keeps the calls of two minutes only, and none without weight', async () => {
    for (let minute = 0; minute < 4; minute++) {
      await taken();
      time.now += minuteMs;
    }
    await taken({ n: 0 });
    await taken({ n: 0 });
    const sets = Object.entries((await read(firstKey)) ?? {}).flatMap(([name, value]) =>
      name.startsWith('calls') && value instanceof Set ? [value.size] : [],
    );
    expect(sets.sort()).toEqual([1, 1]);
  });
});

describe('a refund', () => {
  test('gives back what both items counted, one time', async () => {
    const first = await taken({ n: 2, other: 2 });
    await taken({ n: 1, other: 1 });
    expect(await refund(first)).toBe(true);
    expect(await refund(first)).toBe(false);
    expect(await numbers()).toEqual([1, 1]);
  });

  test('of a reservation that was not made changes nothing', async () => {
    await taken();
    expect(await refund(reservationOf())).toBe(false);
    expect(await refund(reservationOf({ held: ['a'] }))).toBe(false);
    expect(await numbers()).toEqual([1, 0]);
  });

  test('of held ids needs all of them', async () => {
    const first = await taken({ n: 2, held: ['a', 'b'] });
    expect(await refund({ ...reservationOf({ n: 1 }), held: ['b'] })).toBe(true);
    expect(await refund(first)).toBe(false);
    expect(await numbers()).toEqual([1, 0]);
    expect(await refund({ ...reservationOf({ n: 1 }), held: ['a'] })).toBe(true);
    expect(await numbers()).toEqual([0, 0]);
  });

  test('of ids that were kept changes nothing, and keeping them again neither', async () => {
    const first = await taken({ n: 2, held: ['a', 'b'] });
    await keep(first);
    await keep(first);
    expect(await refund(first)).toBe(false);
    expect(await numbers()).toEqual([2, 0]);
  });
});

test('keeping ids of a reservation that was not made creates no item', async () => {
  await keep(reservationOf({ held: ['a'] }));
  expect(await read(firstKey)).toBeUndefined();
});

test('429 RATE_LIMITED when one of a number is reserved in a full window', async () => {
  const window = dayAt(time.now);
  const one = () => reserveOne(window, firstKey, { name: 'n', limit: 1 }, 'Too many.');
  const first = await one();
  await expect(one()).rejects.toMatchObject({ code: 'RATE_LIMITED', message: 'Too many.', retryAfter: 12 * 3600 });
  await refund(first);
  await one();
});
