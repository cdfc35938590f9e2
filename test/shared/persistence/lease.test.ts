import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import {
  acquire,
  changeHeld,
  claimStale,
  deleteHeld,
  type Leased,
  leaseOf,
  release,
  reschedule,
} from '../../../shared/persistence/lease.ts';
import { inControl } from '../../../shared/persistence/mongo.ts';
import { useMemoryMongo } from '../../support/fixtures/memory-mongo.ts';

interface Work {
  readonly _id: ObjectId;
  readonly job: { readonly leasedUntil?: Date };
  readonly state?: string;
  readonly runs?: number;
}

const { all, insert } = useMemoryMongo();
const work: Leased<Work> = { records: inControl<Work>('work'), lease: 'job.leasedUntil', while: ['state'] };
let now = 0;

beforeEach(() => {
  now = Date.UTC(2026, 2, 10);
  vi.spyOn(clock, 'now').mockImplementation(() => now);
  return () => vi.restoreAllMocks();
});

const put = (leasedUntil: number, rest: Partial<Work> = {}): Work => {
  const record = { _id: new ObjectId(), job: { leasedUntil: new Date(leasedUntil) }, ...rest };
  insert('work', record);
  return record;
};
const stored = ({ _id }: Work) => all('work').find((one) => one._id.equals(_id));
const take = (filter = {}) => acquire(work, filter, new Date(now + 1000), { $inc: { runs: 1 } });

describe('a lease', () => {
  test('is acquired from the time at which the one before ends', async () => {
    const record = put(now + 1);
    expect(await take()).toBeNull();
    now += 1;
    expect(await take()).toMatchObject({ _id: record._id, runs: 1, job: { leasedUntil: new Date(now + 1000) } });
    expect(await take()).toBeNull();
  });

  test('is acquired only of records that match', async () => {
    put(0, { state: 'other' });
    const wanted = put(0, { state: 'open' });
    expect(await take({ state: 'open' })).toMatchObject({ _id: wanted._id });
    expect(await take({ state: 'open' })).toBeNull();
  });

  test('is acquired by one of 50 runs', async () => {
    put(0);
    const runs = await Promise.all(Array.from({ length: 50 }, () => take()));
    expect(runs.filter(Boolean)).toHaveLength(1);
  });

  test.each<[string, (record: Work) => Promise<unknown>, (record: Work) => unknown]>([
    ['changed', (record) => changeHeld(work, record, { $set: { runs: 7 } }), (record) => stored(record)?.runs],
    ['released', (record) => release(work, record, {}), (record) => stored(record)?.job.leasedUntil],
    ['rescheduled', (record) => reschedule(work, record), (record) => stored(record)?.job.leasedUntil],
    ['deleted', (record) => deleteHeld(work, record), (record) => stored(record)?._id],
    [
      'claimed',
      (record) => claimStale(work, record, { $set: { runs: 7 } }).then(Boolean),
      (record) => stored(record)?.runs,
    ],
  ])('is %s by the run that holds it, and by no other', async (_, act, read) => {
    const record = put(now + 1000, { state: 'open' });
    const before = read(record);
    for (const other of [
      { job: { leasedUntil: new Date(now) } },
      { job: {} },
      { state: 'done' },
      { _id: new ObjectId() },
    ]) {
      expect(await act({ ...record, ...other })).toBe(false);
    }
    expect(read(record)).toEqual(before);
    expect(await act(record)).toBe(true);
    expect(read(record)).not.toEqual(before);
  });

  test('of a record without fields that stay the same needs them to be missing', async () => {
    const record = put(now + 1000);
    expect(leaseOf(work, record)).toBe(now + 1000);
    expect(leaseOf(work, { ...record, job: {} })).toBe(0);
    Object.assign(stored(record) ?? {}, { state: 'open' });
    expect(await changeHeld(work, record, { $set: { runs: 7 } })).toBe(false);
  });
});
