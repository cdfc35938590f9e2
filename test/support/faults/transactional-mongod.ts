import { type Db, type Document, MongoServerError } from 'mongodb';
import { type FakeMongod, helloReply, startFakeMongod } from './fake-mongod.ts';

const housekeeping = /^(hello|ismaster|ping|endSessions)$/i;
const replicaSet = { ...helloReply, ok: 1, setName: 'rs0', hosts: [], logicalSessionTimeoutMinutes: 30 };
const ofSessions = ['lsid', 'txnNumber', 'startTransaction', 'autocommit', 'readConcern', 'writeConcern'];

const transient = (code: number, errmsg: string) => ({
  ok: 0,
  code,
  errmsg,
  errorLabels: ['TransientTransactionError'],
});

const run = async (db: Db, command: Document): Promise<Document> => {
  try {
    // A cursor's id is a Long.
    return await db.command(command, { promoteLongs: false });
  } catch (error) {
    if (error instanceof MongoServerError) return error.errorResponse;
    throw error;
  }
};

/** Replaces the documents of every collection. */
const copyAll = async (from: Db, to: Db, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    await to.collection(name).deleteMany({});
    const documents = await from.collection(name).find().toArray();
    if (documents.length > 0) await to.collection(name).insertMany(documents);
  }
};

/**
 * Makes a database of a standalone server look like one of a replica set, with sessions, one transaction at a time,
 * commit and abort. A transaction writes a copy of the database, and a commit replaces the database by the copy. A
 * closed connection aborts its transaction.
 */
export const startTransactionalMongod = async (stored: Db): Promise<FakeMongod & { commits: () => number }> => {
  const copy = stored.client.db(`${stored.databaseName}_copy`);
  const names = (await stored.listCollections().toArray()).map(({ name }) => name);
  for (const name of names) {
    const indexes = await stored.collection(name).indexes();
    const specs = indexes.map(({ v: _version, ...index }) => index);
    await copy.command({ createIndexes: name, indexes: specs });
  }
  let open: { readonly id: string; readonly socket: object } | undefined;
  let commits = 0;
  let last: Promise<unknown> = Promise.resolve();
  const answer = async (sent: Document, socket: object): Promise<Document> => {
    const { $db: _database, ...command } = sent;
    const plain = Object.fromEntries(Object.entries(command).filter(([key]) => !ofSessions.includes(key)));
    if (sent.autocommit !== false)
      return run(stored, { ...plain, ...(sent.writeConcern && { writeConcern: { w: 1 } }) });
    const id = `${sent.lsid.id.toString('hex')} ${sent.txnNumber}`;
    if (sent.startTransaction) {
      if (open) return transient(112, 'Another transaction is open');
      open = { id, socket };
      await copyAll(stored, copy, names);
    }
    if (open?.id !== id) return transient(251, 'The transaction is over');
    if (command.abortTransaction) {
      open = undefined;
      return { ok: 1 };
    }
    if (command.commitTransaction) {
      open = undefined;
      commits += 1;
      await copyAll(copy, stored, names);
      return { ok: 1 };
    }
    const reply = await run(copy, plain);
    if (reply.ok !== 1 || reply.writeErrors) open = undefined;
    return reply;
  };
  const server = await startFakeMongod((sent, _port, socket) => {
    const command: Document = sent;
    if (housekeeping.test(Object.keys(command)[0] ?? '')) return replicaSet;
    if (socket.listenerCount('close') < 2) {
      socket.on('close', () => {
        last = last.then(() => {
          if (open?.socket === socket) open = undefined;
        });
      });
    }
    const result = last.then(() => answer(command, socket));
    last = result.catch(() => undefined);
    return result;
  });
  return { ...server, commits: () => commits };
};
