import type { Collection, Db, Document } from 'mongodb';
import { AppError } from '../../shared/core/errors.ts';
import { unavailable } from '../../shared/persistence/mongo-errors.ts';
import { type Records, recordsOf } from '../../shared/persistence/records.ts';
import type { World } from './world.ts';

type Values = Readonly<Record<string, unknown>>;

const valueAt = (record: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Document | undefined)?.[key], record);

/** Equal values have equal texts: dates, ids, numbers and strings. */
const textOf = (value: unknown): string => `${typeof value} ${JSON.stringify(value)}`;

const operators: Readonly<Record<string, (value: unknown, operand: unknown) => boolean>> = {
  $exists: (value, operand) => (value !== undefined) === operand,
  $eq: (value, operand) => textOf(value ?? null) === textOf(operand),
  $ne: (value, operand) => textOf(value ?? null) !== textOf(operand),
  // `null` also matches a missing field.
  $in: (value, operand) => (operand as unknown[]).some((one) => textOf(one) === textOf(value ?? null)),
  $lte: (value, operand) => value !== undefined && Number(value) <= Number(operand),
  $lt: (value, operand) => value !== undefined && Number(value) < Number(operand),
};

const matches = (record: Document, filter: Values): boolean =>
  Object.entries(filter).every(([path, wanted]) => {
    const value = valueAt(record, path);
    if (Object.getPrototypeOf(wanted ?? 0) !== Object.prototype) return textOf(value) === textOf(wanted);
    return Object.entries(wanted as Values).every(([name, operand]) => {
      const holds = operators[name];
      if (!holds) throw new Error(`The fake collection has no operator ${name}`);
      return holds(value, operand);
    });
  });

const setAt = (record: Document, path: string, value: unknown): void => {
  const [last = '', ...parents] = path.split('.').reverse();
  let inner = record;
  for (const key of parents.reverse()) inner = inner[key] ??= {};
  if (value === undefined) delete inner[last];
  else inner[last] = value;
};

const updated = (record: Document, update: Readonly<Record<string, Values>>): Document => {
  const after = structuredCloneOf(record);
  for (const [name, fields] of Object.entries(update)) {
    for (const [path, operand] of Object.entries(fields)) {
      if (name === '$set') setAt(after, path, operand);
      else if (name === '$unset') setAt(after, path, undefined);
      else if (name === '$inc') setAt(after, path, Number(valueAt(record, path) ?? 0) + Number(operand));
      else throw new Error(`The fake collection has no update ${name}`);
    }
  }
  return after;
};

/** Nested objects are copied; dates and ids are not changed by updates. */
const structuredCloneOf = (record: Document): Document =>
  Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      Object.getPrototypeOf(value ?? 0) === Object.prototype ? structuredCloneOf(value) : value,
    ]),
  );

/** A collection of MongoDB in memory: the commands, filters and updates of leases and slots. Each path of `unique` is unique. */
export class FakeCollection {
  readonly all: Document[] = [];
  readonly #unique: readonly string[];

  constructor(unique: readonly string[] = []) {
    this.#unique = ['_id', ...unique];
  }

  insertOne(record: Document): void {
    const taken = this.#unique.some((path) =>
      this.all.some((one) => textOf(valueAt(one, path)) === textOf(valueAt(record, path))),
    );
    if (taken) throw new AppError('DUPLICATE_VALUE', 'Taken');
    this.all.push(structuredCloneOf(record));
  }

  find(filter: Values): Document[] {
    return this.all.filter((record) => matches(record, filter));
  }

  findOneAndUpdate(filter: Values, update: Readonly<Record<string, Values>>, returned: 'before' | 'after' = 'before') {
    const at = this.all.findIndex((record) => matches(record, filter));
    const before = this.all[at];
    if (!before) return null;
    const after = updated(before, update);
    this.all[at] = after;
    return returned === 'after' ? after : before;
  }

  deleteOne(filter: Values): number {
    const at = this.all.findIndex((record) => matches(record, filter));
    if (at !== -1) this.all.splice(at, 1);
    return at === -1 ? 0 : 1;
  }
}

/** The commands of a collection as steps of a world. MongoDB's driver repeats no write after an error that it returns. */
export const recordsIn = <R extends Document>(world: World, fake: FakeCollection): Records<R> => {
  const call = async <T>(name: string, act: () => T): Promise<T> => {
    try {
      return await world.call(name, act);
    } catch (error) {
      throw error instanceof AppError ? error : unavailable(error);
    }
  };
  const commands = {
    insertOne: (record: Document) =>
      call('insertOne', () => {
        fake.insertOne(record);
        return { acknowledged: true };
      }),
    find: (filter: Values) => ({ toArray: () => call('find', () => fake.find(filter)) }),
    findOneAndUpdate: (
      filter: Values,
      update: Record<string, Values>,
      options: { returnDocument?: 'before' | 'after' },
    ) => call('findOneAndUpdate', () => fake.findOneAndUpdate(filter, update, options.returnDocument)),
    updateOne: (filter: Values, update: Record<string, Values>) =>
      call('updateOne', () => ({ matchedCount: fake.findOneAndUpdate(filter, update) ? 1 : 0 })),
    deleteOne: (filter: Values) => call('deleteOne', () => ({ deletedCount: fake.deleteOne(filter) })),
  };
  const records = recordsOf<R>((operation) => operation(commands as never as Collection<R>, undefined as never as Db));
  const findOne = (filter: Values) => call('findOne', () => fake.find(filter)[0] ?? null);
  return { ...records, findOne: findOne as Records<R>['findOne'] };
};
