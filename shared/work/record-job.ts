import type { Filter, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { logFailure } from '../core/log.ts';
import { type Pace, type Worked, workThrough } from './job.ts';
import { type Leasable, type Leased, leaseOf, putOff } from './lease.ts';

/** A job that the clock starts: it finds records that are due in MongoDB, and does what is to be done about each. */
export interface RecordJob<R extends Leasable> extends Leased<R> {
  /** In the log: the job, and what a record of it is. */
  readonly name: string;
  readonly what: string;
  /** Matches those about which there is something to do. */
  readonly open: () => Filter<R>;
  /** They are due so long after the time of their lease. */
  readonly quietMs: number;
  /** How many are read at once. */
  readonly page: number;
  /** May be repeated, and cut short anywhere. True where the record is done with. */
  readonly step: (record: R) => Promise<boolean>;
  readonly pace: Pace;
}

async function* dueRecords<R extends Leasable>({ records, lease, open, quietMs, page }: RecordJob<R>) {
  const had: ObjectId[] = [];
  for (;;) {
    const due = { ...open(), [lease]: { $lte: new Date(clock.now() - quietMs) }, _id: { $nin: had } } as Filter<R>;
    const options = { sort: { [lease]: 1 }, limit: page } as const;
    const found = await records.find<R>(due, options);
    if (found.length === 0) return;
    yield found;
    had.push(...found.map(({ _id }) => _id));
  }
}

/** Works through what is due: the longest waiting first, each once a run; one whose step fails is put off. */
export const workThroughRecords = <R extends Leasable>(job: RecordJob<R>): Promise<Worked> =>
  workThrough<R>({
    due: () => dueRecords(job),
    dueAt: (record) => leaseOf(job, record) + job.quietMs,
    step: async (record) => {
      try {
        return Number(await job.step(record));
      } catch (error) {
        logFailure({ job: job.name, [job.what]: record._id.toHexString() }, error);
        await putOff(job, record).catch(() => undefined);
        return 0;
      }
    },
    pace: job.pace,
  });
