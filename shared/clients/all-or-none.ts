import { type ClientSession, type Db, type MongoClient, MongoServerError } from 'mongodb';
import { AppError } from '../core/errors.ts';

/** A standalone server has no transactions, and what only speaks MongoDB's protocol may have none. */
const known = new WeakMap<MongoClient, boolean>();

/** Asks the server what it is, once a client. */
const hasTransactions = async (db: Db): Promise<boolean> => {
  const asked = known.get(db.client);
  if (asked !== undefined) return asked;
  const { setName, msg, logicalSessionTimeoutMinutes } = await db.command({ hello: 1 });
  const isDistributed = typeof setName === 'string' || msg === 'isdbgrid';
  const answer = isDistributed && typeof logicalSessionTimeoutMinutes === 'number';
  known.set(db.client, answer);
  return answer;
};

/** Illegal operation, unsupported command, not in a transaction: a server that has no transactions after all. */
const refusals = new Set<unknown>([20, 115, 263]);

const isRefusal = (error: unknown): boolean => error instanceof MongoServerError && refusals.has(error.code);

/** Maximum attempts of a transaction that conflicts with others. */
const maxTries = 10;

const inTransaction = <T>(db: Db, write: (session: ClientSession) => Promise<T>): Promise<T> => {
  let tries = 0;
  return db.client.withSession((session) =>
    session.withTransaction(
      () => {
        tries += 1;
        if (tries <= maxTries) return write(session);
        throw new AppError('TOO_MANY_WRITERS', 'Others are writing the same right now. Please try again.', {
          retryAfter: 1,
        });
      },
      { readPreference: 'primary', readConcern: { level: 'local' } },
    ),
  );
};

/**
 * Runs several writes so that all of them are done or none, whatever is cut off in between: in one transaction, which
 * costs one command more. Where the database is a single server without transactions, `write` gets no session and has
 * to undo what it can.
 */
export const allOrNone = async <T>(db: Db, write: (session: ClientSession | undefined) => Promise<T>): Promise<T> => {
  if (!(await hasTransactions(db))) return write(undefined);
  try {
    return await inTransaction(db, write);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    known.set(db.client, false);
    return write(undefined);
  }
};
