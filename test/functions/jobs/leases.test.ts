import { randomBytes } from 'node:crypto';
import type { ObjectId } from 'mongodb';
import { afterEach, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { newId } from '../../../shared/core/ids.ts';
import {
  acquire,
  changeHeld,
  claimStale,
  deleteHeld,
  type Leased,
  release,
  reschedule,
} from '../../../shared/persistence/lease.ts';
import { inControl } from '../../../shared/persistence/mongo.ts';
import { inParallel } from '../../support/clients/client.ts';

interface Job {
  readonly _id: ObjectId;
  readonly state: 'open' | 'closed';
  readonly part: { readonly until: Date; readonly note?: string };
  readonly runs: number;
}

const name = `leases_${randomBytes(6).toString('hex')}`;
const jobs = inControl<Job>(name);
const leased: Leased<Job> = { records: jobs, lease: 'part.until', while: ['state', 'part.note'] };

const add = async (): Promise<Job> => {
  const job: Job = { _id: newId(), state: 'open', part: { until: new Date(0) }, runs: 0 };
  await jobs.insertOne(job);
  return job;
};

const minuteLater = (): Date => new Date(clock.now() + 60_000);
const count = { $inc: { runs: 1 } };
const claimIt = ({ _id }: Job) => acquire(leased, { _id, state: 'open' }, minuteLater(), count);
const now = ({ _id }: Job) => jobs.findOne({ _id });

afterEach(async () => {
  vi.restoreAllMocks();
  await jobs.deleteMany({});
});

test('one of 50 runs claims a record; when its lease has ended, one of 50 again', async () => {
  const job = await add();
  for (const runs of [1, 2]) {
    const claimed = (await inParallel(50, () => claimIt(job))).filter((one) => one !== null);
    expect(claimed).toMatchObject([{ runs, state: 'open' }]);
    expect(await claimIt(job)).toBeNull();
    const end = claimed[0]?.part.until.getTime() ?? 0;
    vi.spyOn(clock, 'now').mockReturnValue(end);
  }
});

test('one of 50 runs takes over a record when all found it in the same state', async () => {
  const job = await add();
  const taken = await inParallel(50, () =>
    claimStale(leased, job, { ...count, $set: { 'part.until': minuteLater() } }),
  );
  expect(taken.filter((one) => one !== null)).toHaveLength(1);
  expect(await now(job)).toMatchObject({ runs: 1 });
});

test('a run changes, deletes and releases nothing when another run has its lease', async () => {
  const job = await add();
  const mine = (await claimIt(job)) as Job;
  expect(await changeHeld(leased, mine, count)).toBe(true);
  vi.spyOn(clock, 'now').mockReturnValue(mine.part.until.getTime());
  const theirs = (await claimIt(job)) as Job;
  const late = [
    changeHeld(leased, mine, count),
    deleteHeld(leased, mine),
    release(leased, mine, {}),
    reschedule(leased, mine),
  ];
  expect(await Promise.all(late)).toEqual([false, false, false, false]);
  expect(await now(job)).toEqual(theirs);

  for (const change of [{ state: 'closed' }, { state: 'open', 'part.note': 'settled' }] as const) {
    await jobs.updateOne({ _id: job._id }, { $set: change });
    expect(await changeHeld(leased, theirs, count)).toBe(false);
  }
});

test('a record can be claimed immediately when it is released, and when it is rescheduled to now', async () => {
  const job = await add();
  const mine = (await claimIt(job)) as Job;
  expect(await release(leased, mine, { $set: { runs: 7 } })).toBe(true);
  const again = (await claimIt(job)) as Job;
  expect(again.runs).toBe(8);
  vi.spyOn(clock, 'now').mockReturnValue(1234);
  expect(await reschedule(leased, again)).toBe(true);
  expect((await now(job))?.part.until).toEqual(new Date(1234));
  expect(await deleteHeld(leased, (await now(job)) as Job)).toBe(true);
  expect(await now(job)).toBeNull();
});
