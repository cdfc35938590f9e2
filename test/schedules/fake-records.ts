import type { Collection, Db, Document } from 'mongodb';
import { AppError } from '../../shared/core/errors.ts';
import { unavailable } from '../../shared/persistence/mongo-errors.ts';
import { type Records, recordsOf } from '../../shared/persistence/records.ts';
import type { FakeCollection } from '../support/fixtures/fake-collection.ts';
import type { World } from './world.ts';

type Values = Readonly<Record<string, unknown>>;

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
