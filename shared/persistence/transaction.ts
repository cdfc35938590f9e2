import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClientSession, Collection, Db } from 'mongodb';
import { MongoError, MongoServerError } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { mongoFailure } from './mongo-errors.ts';

/** The changes feed looks back 10 s, so the positions of a later commit would be missed. */
export const maxOpenMs = 8000;

const maxTries = 10;
const maxCommits = 3;

/** No try begins later, so that the last one ends within the time of its request. */
const lastTryMs = 8000;

const tooManyWriters = (cause?: unknown): AppError =>
  new AppError('TOO_MANY_WRITERS', 'Other requests are changing the same items. Retry.', { retryAfter: 1, cause });

const isTransient = (error: unknown): boolean =>
  error instanceof MongoError && error.hasErrorLabel('TransientTransactionError');

/** The position of the options among the arguments of the driver's methods, and whether the method writes. */
const methods: Readonly<Record<string, readonly [at: number, writes?: true]>> = {
  find: [1],
  findOne: [1],
  aggregate: [1],
  countDocuments: [1],
  insertOne: [1, true],
  insertMany: [1, true],
  bulkWrite: [1, true],
  deleteOne: [1, true],
  deleteMany: [1, true],
  updateOne: [2, true],
  updateMany: [2, true],
  findOneAndUpdate: [2, true],
};

type Method = (...args: unknown[]) => unknown;

/** A transaction of one database: its commands run one after the other, each with the driver's session. */
class Transaction {
  readonly session: ClientSession;
  readonly projectId: string;
  readonly #db: Db;
  #last: Promise<unknown> = Promise.resolve();
  #firstWriteAt: number | undefined;
  /** The last error after which the whole transaction can be repeated. */
  transient: unknown;

  constructor(db: Db, session: ClientSession, projectId: string) {
    this.session = session;
    this.projectId = projectId;
    this.#db = new Proxy(db, {
      get: (target, name) => {
        if (name === 'collection') return (of: string) => this.#collection(target.collection(of));
        if (name === 'command') {
          return (command: object, options: object = {}) => target.command(command, { ...options, session });
        }
        return Reflect.get(target, name, target);
      },
    });
  }

  #collection(collection: Collection): Collection {
    return new Proxy(collection, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        // MongoDB has no command `count` in transactions.
        const called = name === 'count' ? 'countDocuments' : String(name);
        const [at, writes] = methods[called] ?? [];
        if (at === undefined) throw new Error(`${called} is not prepared for transactions`);
        const method = Reflect.get(target, called, target) as Method;
        return (...args: unknown[]) => {
          if (writes) this.#firstWriteAt ??= performance.now();
          const options = { ...(args[at] as object | undefined), session: this.session };
          return method.apply(target, [...Array.from({ length: at }, (_, index) => args[index]), options]);
        };
      },
    });
  }

  /** Throws 503 `TOO_MANY_WRITERS` if the transaction has been open for too long. */
  requireTime(): void {
    if (this.#firstWriteAt !== undefined && performance.now() - this.#firstWriteAt > maxOpenMs) throw tooManyWriters();
  }

  /** Runs commands of the database in the transaction, after those that are running. */
  run<T>(operation: (db: Db) => Promise<T>): Promise<T> {
    const result = this.#last.then(async () => {
      this.requireTime();
      try {
        return await operation(this.#db);
      } catch (error) {
        if (isTransient(error)) this.transient = error;
        throw error instanceof MongoError ? mongoFailure(error) : error;
      }
    });
    this.#last = result.catch(() => undefined);
    return result;
  }
}

export const currentTransaction = new AsyncLocalStorage<Transaction>();

/** The first commit may have been carried out although its response was lost, so it is repeated, never the writes. */
const commit = async (session: ClientSession): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      const isUnknown = error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult');
      if (!isUnknown || tries === maxCommits) throw error;
    }
  }
};

/**
 * Runs `act` in a transaction (majority, snapshot) and commits it. Transient failures repeat everything, then throw
 * 503 `TOO_MANY_WRITERS`. Throws the same if it is not committed 8 s after its first write. `isOver` ends it early.
 */
export const transact = async <T>(
  db: Db,
  projectId: string,
  act: () => Promise<T>,
  isOver: () => boolean,
): Promise<T> => {
  const begin = performance.now();
  for (let tries = 1; ; tries += 1) {
    const session = db.client.startSession();
    const transaction = new Transaction(db, session, projectId);
    try {
      session.startTransaction({
        readConcern: { level: 'snapshot' },
        writeConcern: { w: 'majority', journal: true },
        readPreference: 'primary',
      });
      const result = await currentTransaction.run(transaction, act);
      transaction.requireTime();
      if (isOver()) throw tooManyWriters();
      try {
        await commit(session);
      } catch (error) {
        if (isTransient(error)) transaction.transient = error;
        throw mongoFailure(error);
      }
      return result;
    } catch (error) {
      if (session.inTransaction()) await session.abortTransaction().catch(() => undefined);
      const { transient } = transaction;
      if (transient === undefined) throw error;
      if (tries === maxTries || performance.now() - begin > lastTryMs || isOver()) {
        throw transient instanceof MongoServerError ? tooManyWriters(transient) : error;
      }
    } finally {
      await session.endSession();
    }
  }
};
