import { describe, expect, test, vi } from 'vitest';
import { log } from '../../../shared/core/log.ts';
import { JsonClient } from '../../../shared/persistence/aws-client.ts';
import { classOf, dayOf, statsKey } from '../../../shared/usage/requests.ts';
import { addToTally, countUsage, flushTally, flushTallyIfDue, type Statistics } from '../../../shared/usage/tally.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, read } = useMemoryTable();
const projectId = 'a'.repeat(24);
const storedOf = (id: string) => read(statsKey('requests', id, dayOf(time.now)));
const failing: Statistics = { kind: 'queries', store: () => Promise.reject(new Error('down')) };

const stored: (readonly [projectId: string, values: Record<string, number>])[] = [];
const kept: Statistics = {
  kind: 'queries',
  store: async (place, values) => {
    stored.push([place.projectId, Object.fromEntries(values)]);
  },
};
const flushed = async () => {
  stored.length = 0;
  await flushTally();
  return stored;
};

describe('counted requests', () => {
  test('are summed by route, status and latency, and by hour, for each project', async () => {
    for (const ms of [3, 3, 300]) countUsage({ projectId, route: 'listDocuments', status: 200, ms });
    countUsage({ projectId: 'b', route: 'listDocuments', status: 404, ms: 3 });
    await flushTally();
    expect(await storedOf(projectId)).toEqual({
      [`listDocuments|200|${classOf(3)}`]: 2,
      [`listDocuments|200|${classOf(300)}`]: 1,
      '|200|12': 3,
      expiresAt: expect.any(Number),
    });
    expect(await storedOf('b')).toMatchObject({ '|404|12': 1 });
    countUsage({ projectId, route: 'listDocuments', status: 200, ms: 3 });
    await flushTally();
    expect(await storedOf(projectId)).toMatchObject({ [`listDocuments|200|${classOf(3)}`]: 3, '|200|12': 4 });
  });

  test('are written 50 at a time', async () => {
    const sent = vi.mocked(JsonClient.prototype.send);
    const count = async (routes: number) => {
      for (let at = 0; at < routes - 1; at++) countUsage({ projectId, route: `r${at}`, status: 200, ms: 1 });
      sent.mockClear();
      await flushTally();
      return sent.mock.calls.length;
    };
    expect([await count(50), await count(51), await count(100)]).toEqual([1, 2, 2]);
    expect(await storedOf(projectId)).toMatchObject({ 'r0|200|0': 3, 'r98|200|0': 1, '|200|12': 49 + 50 + 99 });
  });

  test('are written when the oldest is as old as the setting says, and then start over', async () => {
    expect(flushTallyIfDue()).toBeUndefined();
    addToTally(kept, projectId, 'a', 1);
    time.now += 9999;
    addToTally(kept, projectId, 'a', 2);
    stored.length = 0;
    expect(flushTallyIfDue()).toBeUndefined();
    time.now += 1;
    await flushTallyIfDue();
    expect(stored).toEqual([[projectId, { a: 3 }]]);
    expect(flushTallyIfDue()).toBeUndefined();
    addToTally(kept, projectId, 'a', 1);
    expect(flushTallyIfDue()).toBeUndefined();
    time.now += 10_000;
    await flushTallyIfDue();
    expect(stored).toHaveLength(2);
  });

  test('of another day are kept apart', async () => {
    addToTally(kept, projectId, 'a', 1);
    time.now += 12 * 3600_000;
    addToTally(kept, projectId, 'a', 1);
    expect(await flushed()).toEqual([
      [projectId, { a: 1 }],
      [projectId, { a: 1 }],
    ]);
  });

  test('are bounded: 500 projects and days, and 300 counters of each', async () => {
    for (let at = 0; at < 501; at++) addToTally(kept, `p${at}`, 'a', 1);
    addToTally(kept, 'p0', 'a', 1);
    for (let at = 0; at < 300; at++) addToTally(kept, 'p0', `n${at}`, 1);
    addToTally(kept, 'p0', 'n0', 1);
    const all = new Map(await flushed());
    expect([all.size, all.has('p499'), all.has('p500')]).toEqual([500, true, false]);
    const first = all.get('p0') ?? {};
    expect([Object.keys(first).length, first.a, first.n0, first.n298, first.n299]).toEqual([300, 2, 2, 1, undefined]);
  });

  test('are stored by a timer if no request follows, one time', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    addToTally(kept, projectId, 'a', 1);
    addToTally(kept, 'b', 'a', 1);
    const own = timers.mock.calls.filter(([act]) => act === flushTally);
    expect(own.map(([, ms]) => ms)).toEqual([10_000]);
    await flushTally();
  });

  test('that cannot be written are dropped with a warning, and those of others are stored', async () => {
    const warn = vi.spyOn(log, 'warn').mockReturnValue();
    addToTally(kept, projectId, 'a', 1);
    await flushed();
    expect(warn).not.toHaveBeenCalled();
    addToTally(failing, 'b', 'a', 1);
    addToTally(kept, projectId, 'a', 1);
    expect(await flushed()).toEqual([[projectId, { a: 1 }]]);
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ message: 'Some requests were not counted' }));
    expect(await flushed()).toEqual([]);
  });
});

test('nothing is counted if the setting is 0', async () => {
  vi.resetModules();
  vi.stubEnv('USAGE_SECONDS', '0');
  const off = await import('../../../shared/usage/tally.ts');
  off.addToTally(kept, projectId, 'a', 1);
  stored.length = 0;
  await off.flushTally();
  expect(stored).toEqual([]);
});
