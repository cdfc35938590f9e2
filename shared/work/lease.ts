import type { Filter, ObjectId, UpdateFilter } from 'mongodb';
import type { Records } from '../clients/records.ts';
import { clock } from '../core/clock.ts';

/** What a lease can be on. */
export interface Leasable {
  readonly _id: ObjectId;
}

/** Records on which one run at a time works. The names are those of the fields as they are stored. */
export interface Leased<R extends Leasable> {
  readonly records: Records<R>;
  /** The time that every claim, release and putting off changes: whoever knows it holds the record. */
  readonly lease: string;
  /** What else stays as it was read for as long as there is something to do. */
  readonly while?: readonly string[];
}

const valueAt = (record: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], record);

/** The time of a record's lease, in milliseconds since 1970. */
export const leaseOf = <R extends Leasable>({ lease }: Pick<Leased<R>, 'lease'>, record: R): number =>
  Number(valueAt(record, lease) ?? 0);

/** The condition that a record is still as this run claimed it, or found it; what it had not it still has not. */
const isHeld = <R extends Leasable>({ lease, while: same = [] }: Leased<R>, record: R): Filter<R> =>
  Object.fromEntries(
    ['_id', lease, ...same].map((name) => [name, valueAt(record, name) ?? { $exists: false }]),
  ) as Filter<R>;

/** The condition that a record's lease has ended. */
export const isFree = <R extends Leasable>({ lease }: Leased<R>, open: Filter<R>): Filter<R> =>
  ({ ...open, [lease]: { $lte: new Date(clock.now()) } }) as Filter<R>;

/**
 * Claims a record whose lease has ended, until a time; `change` is made with it. One of any number of runs gets it, by
 * one conditional write; the others, and whoever asks for none that is `open`, get `null`.
 */
export const claim = <R extends Leasable>(
  leased: Leased<R>,
  open: Filter<R>,
  until: Date,
  change: UpdateFilter<R>,
  returnDocument: 'before' | 'after' = 'after',
): Promise<R | null> => {
  const free = isFree(leased, open);
  const update = { ...change, $set: { ...change.$set, [leased.lease]: until } } as UpdateFilter<R>;
  return leased.records.findOneAndUpdate(free, update, { returnDocument }) as Promise<R | null>;
};

/** Claims a record that is still as it was found, by one conditional write; `null` where another run was first. */
export const takeOver = <R extends Leasable>(leased: Leased<R>, found: R, update: UpdateFilter<R>): Promise<R | null> =>
  leased.records.findOneAndUpdate(isHeld(leased, found), update, { returnDocument: 'after' }) as Promise<R | null>;

/** Changes a record that this run holds; false where it does not any more. */
export const changeHeld = async <R extends Leasable>(
  leased: Leased<R>,
  record: R,
  update: UpdateFilter<R>,
): Promise<boolean> => {
  const { matchedCount } = await leased.records.updateOne(isHeld(leased, record), update);
  return matchedCount > 0;
};

/** Deletes a record that this run holds; false where it does not any more. */
export const deleteHeld = async <R extends Leasable>(leased: Leased<R>, record: R): Promise<boolean> => {
  const { deletedCount } = await leased.records.deleteOne(isHeld(leased, record));
  return deletedCount > 0;
};

/** Ends the lease of a record that this run holds, so that another can claim it at once; `change` is made with it. */
export const release = <R extends Leasable>(leased: Leased<R>, record: R, change: UpdateFilter<R>): Promise<boolean> =>
  changeHeld(leased, record, {
    ...change,
    $set: { ...change.$set, [leased.lease]: new Date(0) },
  } as UpdateFilter<R>);

/** Puts a record off that is still as it was found: from now on all others are before it. */
export const putOff = <R extends Leasable>(leased: Leased<R>, found: R): Promise<boolean> =>
  changeHeld(leased, found, { $set: { [leased.lease]: new Date(clock.now()) } } as UpdateFilter<R>);
