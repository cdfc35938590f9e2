import assert from 'node:assert/strict';
import fc from 'fast-check';
import { clock, dayAt } from '../../shared/core/clock.ts';
import {
  type Counter,
  counterIn,
  newCall,
  peek,
  type Reservation,
  refund,
  reserve,
} from '../../shared/persistence/counters.ts';
import { itemKey, ownerScope, projectScope } from '../../shared/persistence/item-keys.ts';
import { get, write } from '../../shared/persistence/table.ts';
import * as kinds from '../../shared/persistence/table-keys.ts';
import { RateCounter, windowSeconds } from '../../shared/rate-limit/rate-limit.ts';
import { model, times } from './model.ts';
import { type Result, valuesOf, type World } from './world.ts';

const limit = 5;
const scope = projectScope('a'.repeat(24));
const firstKey = itemKey(kinds.mailMonth, scope, { month: 'any' });
const otherKey = itemKey(kinds.ownerMails, ownerScope('any'), { month: 'any' });
const counterAt = (key: Counter['key'], weight: number): Counter =>
  counterIn(dayAt(clock.now()), key, { name: 'n', weight, limit });

const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
const numberAt = (world: World, { pk, sk }: Counter['key']): number => {
  const n = world.table.get({ pk: { S: pk }, sk: { S: sk } })?.n;
  return n && 'N' in n ? Number(n.N) : 0;
};

interface Use {
  readonly weight: number;
  readonly isRefunded: boolean;
  readonly isHeld: boolean;
}

const uses = fc.array(
  fc.record<Use>({ weight: fc.integer({ min: 1, max: 3 }), isRefunded: fc.boolean(), isHeld: fc.boolean() }),
  { minLength: 2, maxLength: 5 },
);

/** Reservations below a limit, some of which are refunded, in one item or in two together. */
const countModel = (name: string, others: readonly Counter['key'][]) =>
  model(name, uses, async (world, all) => {
    world.always = () => {
      const n = numberAt(world, firstKey);
      assert.ok(n >= 0 && n <= limit, `The number is ${n}`);
      for (const key of others) assert.equal(numberAt(world, key), n, 'Two items of one reservation differ');
    };
    const results = all.map(({ weight, isRefunded, isHeld }, at) =>
      world.actor(async () => {
        const tallies = [counterAt(firstKey, weight), ...others.map((key) => counterAt(key, weight))] as const;
        const reservation: Reservation = { call: newCall(), tallies, ...(isHeld && { held: [`h${at}`] }) };
        const { taken } = await reserve(reservation);
        if (taken && isRefunded) await refund(reservation);
        return taken && !isRefunded ? weight : 0;
      }),
    );
    await world.finish();
    const kept = sum(valuesOf(results));
    const isOpen = ({ outcome, isLate }: Result<unknown>) => outcome.kind === 'unknown' || isLate;
    const open = sum(results.flatMap((result, at) => (isOpen(result) ? (all[at]?.weight ?? 0) : [])));
    const n = numberAt(world, firstKey);
    assert.ok(n >= kept && n <= kept + open, `The number is ${n}; ${kept} are reserved, ${open} perhaps`);
    if (sum(all.map(({ weight }) => weight)) <= limit && open === 0) {
      assert.equal(
        kept,
        sum(all.map(({ weight, isRefunded }) => (isRefunded ? 0 : weight))),
        'A reservation was rejected',
      );
    }
  });

const rates = model(
  'rate limit',
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 8 })),
  async (world, [processes, block]) => {
    const windows = [{ name: 'all', limit: 8, block }] as const;
    const allowed = new Map<number, number>();
    for (const counter of times(processes, () => new RateCounter())) {
      times(2, () =>
        world.actor(async () => {
          for (let request = 0; request < 3; request++) {
            const window = Math.floor(clock.now() / 1000 / windowSeconds);
            const isAllowed = await counter.count('192.0.2.1', windows).then(
              () => true,
              () => false,
            );
            if (isAllowed) allowed.set(window, (allowed.get(window) ?? 0) + 1);
          }
        }),
      );
    }
    await world.finish();
    for (const count of allowed.values()) assert.ok(count <= 8, `${count} requests were allowed`);
  },
);

export const counts = [countModel('counts', []), countModel('counts of two items', [otherKey]), rates];

/** Counters that are wrong on purpose, to see that the simulator finds it. */
const brokenModel = (name: string, count: () => Promise<boolean>) =>
  model(name, fc.integer({ min: 2, max: 4 }), async (world, callers) => {
    const all = times(callers, () => world.actor(count));
    await world.finish();
    const counted = valuesOf(all).filter(Boolean).length;
    const open = callers - valuesOf(all).length;
    const n = Number((await peek({ key: firstKey }))?.n ?? 0);
    assert.ok(n >= counted && n <= counted + open && n <= limit, `The number is ${n}; ${counted} were counted`);
  });

const readThenWrite = async (): Promise<boolean> => {
  const { n = 0 } = (await get<{ n?: number }>(firstKey)) ?? {};
  if (n < limit) await write({ put: { ...firstKey, n: n + 1 } });
  return n < limit;
};

const withoutCallId = async (): Promise<boolean> =>
  (
    await write({
      update: firstKey,
      change: 'ADD n :one',
      condition: 'attribute_not_exists(n) OR n < :limit',
      values: { one: 1, limit },
    })
  ).done;

export const brokenCounts = [
  brokenModel('a number that is read, then written', readThenWrite),
  brokenModel('a number whose retry counts again', withoutCallId),
];
