import { Collection, Db, type MongoClient, MongoServerError } from 'mongodb';
import { vi } from 'vitest';

const databases = new Set<string>();
const developers = new Set<string>();

const refused = (): never => {
  throw new MongoServerError({ message: 'not authorized', code: 13 });
};

/** Until mocks are restored, rejects the operations below for all clients except one. */
export const refuseWhatIsBroken = (but: MongoClient): void => {
  for (const name of ['collection', 'dropCollection', 'dropDatabase', 'listCollections'] as const) {
    const method = Db.prototype[name] as (this: Db, ...rest: unknown[]) => never;
    vi.spyOn(Db.prototype, name).mockImplementation(function call(this: Db, ...rest: unknown[]) {
      return databases.has(this.databaseName) && this.client !== but ? refused() : method.apply(this, rest);
    });
  }
  const { deleteMany } = Collection.prototype;
  vi.spyOn(Collection.prototype, 'deleteMany').mockImplementation(function remove(this: Collection, filter, options) {
    return developers.has(String(filter?.developerId)) ? refused() : deleteMany.call(this, filter, options);
  });
};

const broken = (among: Set<string>, name: string): (() => void) => {
  among.add(name);
  return () => void among.delete(name);
};

/** Breaks a project's hosted database. Returns the function that repairs it. */
export const breakDatabase = (projectId: string): (() => void) => broken(databases, `p_${projectId}`);

/** Makes a developer's tokens undeletable. Returns the function that repairs it. */
export const breakDeveloper = (id: string): (() => void) => broken(developers, id);
