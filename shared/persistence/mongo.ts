import { hash } from 'node:crypto';
import {
  type Db,
  type Document,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoServerSelectionError,
} from 'mongodb';
import { memoizeByObject } from '../core/cache.ts';
import { throttledStep } from '../core/concurrency.ts';
import { mongoSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { closeCustomerDatabases, onCustomerDatabase } from '../customer-database/client.ts';
import { isOverdue, monitored, timed } from './mongo-commands.ts';
import { mongoFailure } from './mongo-errors.ts';
import { noFieldsAsRaw } from './raw-documents.ts';
import { hasTransactions, isWithoutTransactions, type Placed, type Records, recordsOf } from './records.ts';
import { settingText } from './secrets.ts';
import { currentTransaction, transact } from './transaction.ts';

/** Maximum time of one operation, including server selection (contract 2, "Own database down"). */
const operationLimitMs = 5400;

const options: MongoClientOptions = {
  appName: 'basalt',
  maxPoolSize: 5,
  minPoolSize: 0,
  maxIdleTimeMS: 60_000,
  serverSelectionTimeoutMS: 5000,
  connectTimeoutMS: 5000,
  waitQueueTimeoutMS: 5000,
  writeConcern: { w: 'majority', journal: true },
  ignoreUndefined: true,
  fieldsAsRaw: noFieldsAsRaw,
  pkFactory: { createPk: newId },
};

type Patience = 'usual' | 'long';

/**
 * Detects silent connections: by a socket timeout slightly above the 5 s of a query; for operations that may be silent
 * for longer, such as index builds, by a heartbeat every two seconds.
 */
const detection: Readonly<Record<Patience, MongoClientOptions>> = {
  usual: { socketTimeoutMS: 5300 },
  long: { heartbeatFrequencyMS: 2000, connectTimeoutMS: 3000, retryReads: false },
};

const managed = new Map<Patience, Promise<MongoClient>>();

const connect = async (patience: Patience): Promise<MongoClient> => {
  const { MONGODB_URI, MONGODB_SECRET_ARN } = mongoSettings();
  const uri = await settingText(MONGODB_URI, MONGODB_SECRET_ARN);
  if (!uri) throw new Error('Neither MONGODB_URI nor MONGODB_SECRET_ARN is set');
  return monitored((monitor) => new MongoClient(uri, { ...options, ...detection[patience], ...monitor }));
};

/** This process's client of our cluster, and a second one for long operations. */
const managedClient = (patience: Patience): Promise<MongoClient> => {
  let client = managed.get(patience);
  if (!client) {
    client = connect(patience).catch((error: unknown) => {
      managed.delete(patience);
      throw error;
    });
    managed.set(patience, client);
  }
  return client;
};

/**
 * Replaces a client that found no server: its monitor can wait forever if a connection ends while it writes (driver
 * 7.8). Running operations continue.
 */
const retire = async (patience: Patience, found: Promise<MongoClient>): Promise<void> => {
  if (managed.get(patience) !== found) return;
  managed.delete(patience);
  const client = await found;
  setTimeout(() => void client.close().catch(() => undefined), operationLimitMs).unref();
};

/** For scripts and tests, so that they can exit. */
export const closeMongo = async (): Promise<void> => {
  const open = [...managed.values()];
  managed.clear();
  await Promise.all([...open.map(async (client) => (await client).close()), closeCustomerDatabases()]);
};

const databasesOf = memoizeByObject((_client: MongoClient) => new Map<string, Db>());
const rememberedDatabases = 1000;

/** Caches `Db` objects: the driver resolves their options each time one is created. */
const databaseNamed = (client: MongoClient, name: string): Db => {
  const known = databasesOf(client);
  const database = known.get(name) ?? client.db(name);
  if (known.size > rememberedDatabases) known.clear();
  known.set(name, database);
  return database;
};

const socketFailures = new Set<unknown>([
  'EPIPE',
  'ECONNRESET',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'ERR_SOCKET_CLOSED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** The driver does not wrap socket errors of a connection that the other end has just closed. */
const isSocketFailure = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && socketFailures.has(error.code);

const patienceFor = (limitMs: number): Patience => (limitMs > operationLimitMs ? 'long' : 'usual');

const attempt = async <T>(
  name: string,
  operation: (db: Db) => Promise<T>,
  limitMs: number,
  patience = patienceFor(limitMs),
): Promise<T> => {
  const client = managedClient(patience);
  try {
    return await timed(limitMs, async () => operation(databaseNamed(await client, name)));
  } catch (error) {
    if (error instanceof MongoServerSelectionError) void retire(patience, client);
    if (error instanceof MongoError || isOverdue(error) || isSocketFailure(error)) throw mongoFailure(error);
    throw error;
  }
};

const run = <T>(name: string, operation: (db: Db) => Promise<T>, limitMs = operationLimitMs): Promise<T> =>
  throttledStep(() => attempt(name, operation, limitMs));

/** Runs an operation on the control database. The driver's errors become `AppError`. */
export const onControl = <T>(operation: (db: Db) => Promise<T>): Promise<T> =>
  run(mongoSettings().CONTROL_DATABASE, operation);

export const inControl = <R extends Document>(name: string): Records<R> =>
  recordsOf((operation) => onControl((db) => operation(db.collection<R>(name), db)));

/** Each project has its own database, so a join cannot leave the project. */
export const projectDatabaseName = (projectId: string): string => `p_${projectId}`;

/**
 * Runs an operation on the project's database in our cluster, which has its users even if a customer's database has its
 * documents. The driver's errors become `AppError`.
 */
export const onManaged = <T>(
  project: Pick<Placed, 'id'>,
  operation: (db: Db) => Promise<T>,
  limitMs = operationLimitMs,
): Promise<T> => run(projectDatabaseName(project.id), operation, limitMs);

const onCustomer = <T>(
  placement: Extract<Placed['placement'], { readonly kind: 'external' }>,
  operation: (db: Db) => Promise<T>,
  limitMs: number,
  patience: Patience,
): Promise<T> => onCustomerDatabase(placement, patience, { ...options, ...detection[patience] }, limitMs, operation);

/**
 * Runs an operation on the database of the project's documents, ours or the customer's. The driver's errors become
 * `AppError`.
 */
export const onProject = <T>(
  project: Placed,
  operation: (db: Db) => Promise<T>,
  limitMs = operationLimitMs,
): Promise<T> => {
  const transaction = currentTransaction.getStore();
  if (transaction?.projectId === project.id) return transaction.run(operation);
  const { placement } = project;
  if (placement.kind === 'managed') return onManaged(project, operation, limitMs);
  return onCustomer(placement, operation, limitMs, patienceFor(limitMs));
};

/** Two tries of a transaction that is open for as long as it may be. */
const transactionLimitMs = 18_000;

/**
 * Runs `act` in a transaction of the database of the project's documents: `onProject` inside of it uses the
 * transaction. `undefined` if the server has no transactions; then nothing was written.
 */
export const inTransaction = <T>(
  project: Placed,
  act: () => Promise<T>,
): Promise<{ readonly result: T } | undefined> => {
  const { placement, id } = project;
  let isOver = false;
  const operation = async (db: Db) => {
    if (!(await hasTransactions(db))) return undefined;
    try {
      return { result: await transact(db, id, act, () => isOver) };
    } catch (error) {
      const cause = error instanceof AppError ? error.cause : error;
      if (isWithoutTransactions(db, cause)) return undefined;
      throw error;
    }
  };
  const run =
    placement.kind === 'managed'
      ? attempt(projectDatabaseName(id), operation, transactionLimitMs, 'usual')
      : onCustomer(placement, operation, transactionLimitMs, 'usual');
  return run.finally(() => {
    isOver = true;
  });
};

/** Identifies the database of a project's documents; each connection of a customer's database has its own name. */
export const databaseOf = ({ placement }: Pick<Placed, 'placement'>): string =>
  placement.kind === 'managed' ? placement.cell : hash('sha256', placement.encryptedUri, 'hex');
