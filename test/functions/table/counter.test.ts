import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import {
  type Count,
  type Counter,
  countIn,
  heldIn,
  newCall,
  peek,
  type Reservation,
  refund,
  reserve,
} from '../../../shared/persistence/counters.ts';
import type { Item } from '../../../shared/persistence/dynamo.ts';
import { inParallel } from '../../support/clients/client.ts';
import { answerForAws } from '../../support/faults/aws-answers.ts';
import { loseFirstAnswers } from '../../support/faults/lost-answers.ts';

let sort: string;
beforeEach(() => {
  sort = `counter#${randomUUID()}`;
});
afterEach(() => {
  vi.restoreAllMocks();
});

const n: Count = { name: 'n', weight: 1, limit: 10 };
const tally = (counts: readonly Count[] = [n], pk = 'o#test'): Counter => ({
  key: { pk, sk: sort },
  expiresAt: 4_000_000_000,
  counts,
});
const taking = (changes: Partial<Reservation> = {}): Reservation => ({
  tallies: [tally()],
  call: newCall(),
  ...changes,
});
const counted = async (pk = 'o#test', name = 'n') => countIn(await peek(tally([], pk)), name);
const setsIn = (item: Item) => Object.values(item).flatMap((value) => (value instanceof Set ? [...value] : []));
const both = (): Reservation['tallies'] => [tally(), tally([{ ...n, weight: 3 }], 'o#other')];

/** Records the requests to the table. Returns a function that sends all of them again. */
const recordSent = (): (() => Promise<void>) => {
  const again: (() => Promise<unknown>)[] = [];
  answerForAws((asked, send) => {
    again.push(() => send(asked));
    return send(asked);
  });
  return async () => {
    vi.restoreAllMocks();
    for (const repeat of again) await repeat().catch((error: Error) => expect(error.name).toMatch(/Cond|Cancel/));
  };
};

describe('reserving', () => {
  test('a counter stops at the limit when 50 callers count concurrently', async () => {
    const outcomes = await inParallel(50, () => reserve(taking()));
    expect(outcomes.filter(({ taken }) => taken)).toHaveLength(10);
    expect(outcomes.filter((outcome) => !outcome.taken && outcome.full?.name === 'n')).toHaveLength(40);
    expect(await counted()).toBe(10);
  });

  test('two counters reserve both or none when 50 callers count concurrently, and name the full one', async () => {
    const outcomes = await inParallel(50, () => reserve(taking({ tallies: both() })).catch(() => undefined));
    expect(outcomes.filter((outcome) => outcome?.taken)).toHaveLength(3);
    expect([await counted(), await counted('o#other')]).toEqual([3, 9]);
    expect(await reserve(taking({ tallies: both() }))).toMatchObject({ taken: false, full: { weight: 3 } });
  });

  test('a reservation fails when it exceeds the limit of any of its numbers', async () => {
    expect((await reserve(taking({ tallies: [tally([{ ...n, weight: 11 }])] }))).taken).toBe(false);
    const two = tally([n, { name: 'm', weight: 2, limit: 3 }]);
    expect((await reserve(taking({ tallies: [two] }))).taken).toBe(true);
    expect(await reserve(taking({ tallies: [two] }))).toMatchObject({ taken: false, full: { name: 'm' } });
    expect([await counted(), await counted('o#test', 'm')]).toEqual([1, 2]);
  });

  test('a counter stays unchanged when the weight is zero', async () => {
    const none = { tallies: [tally([{ ...n, weight: 0 }])] } as const;
    for (let asked = 0; asked < 3; asked++) expect((await reserve(taking(none))).taken).toBe(true);
    const item = (await peek(tally())) ?? {};
    expect([countIn(item, 'n'), setsIn(item)]).toEqual([0, ['-']]);
  });
});

describe('a repeated write whose response was lost', () => {
  test.each([
    ['one item', (): Reservation => taking()],
    ['two items', (): Reservation => taking({ tallies: both() })],
    ['an item that holds ids', (): Reservation => taking({ held: ['a', 'b'] })],
  ])('counts one time for %s, also at the limit', async (_title, one) => {
    loseFirstAnswers();
    expect((await reserve(one())).taken).toBe(true);
    expect(await counted()).toBe(1);
    vi.restoreAllMocks();
    await reserve(taking({ tallies: [tally([{ ...n, weight: 8 }])] }));
    loseFirstAnswers();
    expect((await reserve({ ...taking(), held: ['z'] })).taken).toBe(true);
    expect(await counted()).toBe(10);
  });

  test('counts one time when others were reserved and released since, and a new minute has begun', async () => {
    const start = Date.UTC(2030, 0, 1, 12, 0, 59);
    vi.spyOn(clock, 'now').mockReturnValue(start);
    const first = taking();
    const repeat = recordSent();
    expect((await reserve(first)).taken).toBe(true);
    vi.spyOn(clock, 'now').mockReturnValue(start + 30_000);
    const other = taking();
    await reserve(other);
    await refund(other);
    await reserve(taking());
    await repeat();
    expect(await counted()).toBe(2);
  });

  test('a repeated call counts one time when its reservation was released', async () => {
    const first = taking();
    const repeat = recordSent();
    await reserve(first);
    await refund(first);
    await repeat();
    expect(await counted()).toBe(0);
    expect((await reserve(first)).taken).toBe(true);
    expect(await counted()).toBe(0);
  });

  test('a repeated call counts one time when its ids were released', async () => {
    const first = taking({ held: ['a'], tallies: both() });
    const repeat = recordSent();
    await reserve(first);
    await refund(first);
    await repeat();
    expect([await counted(), await counted('o#other')]).toEqual([0, 0]);
  });

  test('calls are removed from an item when they are three minutes old', async () => {
    const start = Date.UTC(2030, 0, 1, 12);
    const many = tally([{ ...n, limit: 1000 }]);
    for (let minute = 0; minute < 10; minute++) {
      vi.spyOn(clock, 'now').mockReturnValue(start + minute * 60_000);
      for (let asked = 0; asked < 5; asked++) await reserve(taking({ tallies: [many] }));
    }
    const item = (await peek(many)) ?? {};
    expect(setsIn(item)).toHaveLength(10);
    expect(countIn(item, 'n')).toBe(50);
  });
});

describe('releasing', () => {
  test.each([
    ['what was taken', (): Reservation => taking()],
    ['what was taken of two items', (): Reservation => taking({ tallies: both() })],
    ['ids that are held', (): Reservation => taking({ held: ['a', 'b'], tallies: both() })],
  ])('50 concurrent releases release %s one time', async (_title, make) => {
    const one = make();
    await reserve(taking());
    await reserve(one);
    const back = await inParallel(50, () => refund(one).catch(() => false));
    expect(back.filter(Boolean)).toHaveLength(1);
    expect(await counted()).toBe(1);
    expect(await counted('o#other')).toBe(0);
    expect(heldIn(await peek(tally()))).toEqual([]);
  });

  test('a release changes nothing when nothing was reserved', async () => {
    expect(await refund(taking())).toBe(false);
    expect(await refund(taking({ held: ['a'] }))).toBe(false);
    expect(await counted()).toBe(0);
  });
});
