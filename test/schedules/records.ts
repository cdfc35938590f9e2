import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { AppError } from '../../shared/core/errors.ts';
import { newId } from '../../shared/core/ids.ts';
import { retryOnConflict } from '../../shared/core/retry.ts';
import { acquire, changeHeld, deleteHeld, type Leased, release } from '../../shared/persistence/lease.ts';
import { insertInSlot } from '../../shared/projects/create-project.ts';
import { FakeCollection } from '../support/fixtures/fake-collection.ts';
import { recordsIn } from './fake-records.ts';
import { exclusive } from './keys.ts';
import { model } from './model.ts';
import { valuesOf } from './world.ts';

interface Job {
  readonly _id: ObjectId;
  readonly state: string;
  readonly leasedUntil: Date;
  readonly done?: number;
  /** The run that holds it, and the run that ended its lease. */
  readonly holder?: number;
  readonly endedBy?: number;
}

const runsOfLease = fc.record({
  /** The shorter one ends during a run. */
  leaseMs: fc.constantFrom(2000, 35_000),
  endings: fc.array(fc.constantFrom('release', 'change', 'delete'), { minLength: 2, maxLength: 4 }),
});

/** Runs that work on one record. Each adds 1 to `done` in the write that ends its lease. */
const leases = model('leases', runsOfLease, async (world, { leaseMs, endings }) => {
  const fake = new FakeCollection();
  const leased: Leased<Job> = { records: recordsIn<Job>(world, fake), lease: 'leasedUntil' };
  fake.insertOne({ _id: new ObjectId(), state: 'open', leasedUntil: new Date(0) });
  const { enter, leave } = exclusive(world);
  world.always = () => {
    const [job] = fake.all;
    assert.ok(job?.endedBy === undefined || job.endedBy === job.holder, 'A run ended the lease of another');
  };
  const results = endings.map((ending, holder) =>
    world.actor(async () => {
      const job = await acquire(leased, { state: 'open' }, new Date(world.now + leaseMs), {
        $set: { holder },
        $unset: { endedBy: '' },
      });
      if (!job) return 'none';
      if (leaseMs > 30_000) enter();
      await world.sleep(3000);
      const isHeld = ending !== 'change' || (await changeHeld(leased, job, { $set: { state: 'open' } }));
      leave();
      if (!isHeld) return 'lost';
      if (ending === 'delete') return (await deleteHeld(leased, job)) ? 'deleted' : 'lost';
      return (await release(leased, job, { $set: { endedBy: holder }, $inc: { done: 1 } })) ? 'done' : 'lost';
    }),
  );
  await world.finish();
  const values = valuesOf(results);
  const [job] = fake.all;
  const done = values.filter((value) => value === 'done').length;
  const open = results.length - values.length;
  if (!job) assert.ok(values.includes('deleted') || open > 0, 'Nobody deleted the record');
  else assert.ok(job.done === undefined ? done === 0 : job.done >= done && job.done <= done + open, 'Ends are lost');
  assert.ok(values.filter((value) => value === 'deleted').length <= 1, 'Two runs deleted the record');
});

const limit = 3;

/** Concurrent creations of limited things, some of which are deleted again. */
const slots = model('slots', fc.array(fc.boolean(), { minLength: 2, maxLength: 5 }), async (world, callers) => {
  const fake = new FakeCollection(['slot']);
  const records = recordsIn<{ _id: ObjectId; slot: number }>(world, fake);
  world.always = () => assert.ok(fake.all.length <= limit, `${fake.all.length} records`);
  const results = callers.map((isDeleted) =>
    world.actor(async () => {
      const full = () => new AppError('PLAN_LIMIT', 'Full');
      const made = await retryOnConflict('Busy', async () =>
        insertInSlot(records, { _id: newId() }, await records.find({}), limit, full),
      );
      if (isDeleted) await records.deleteOne({ _id: made._id });
      return isDeleted ? 0 : 1;
    }),
  );
  await world.finish();
  const made = valuesOf(results).reduce<number>((sum, one) => sum + one, 0);
  const open = results.filter(({ outcome, isLate }) => outcome.kind === 'unknown' || isLate).length;
  assert.ok(fake.all.length >= made && fake.all.length <= made + open, `${fake.all.length} records, ${made} were made`);
  if (open === 0 && callers.length <= limit)
    assert.equal(valuesOf(results).length, callers.length, 'A record was rejected');
});

export const records = [leases, slots];
