import { type Db, MongoClient, type MongoClientOptions, MongoError } from 'mongodb';
import { mongoSettings } from '../config.ts';
import { AppError } from '../errors.ts';
import { log } from '../log.ts';
import type { Project } from '../projects/project.ts';
import { commandChannel, type DatabaseCommand } from './commands.ts';
import { mongoFailure } from './mongo-failure.ts';
import { secret } from './secrets.ts';
import { isOverdue, timed } from './timed.ts';

/** Longest wait for one database operation, selection of a server included (contract 2, "Own database down"). */
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
};

type Patience = 'usual' | 'long';

/**
 * How a connection is found out that is open but silent. Usually by its silence, a little after the 5 s a query may take; where
 * an operation may be silent for longer, such as building an index, by asking the server beside it every two seconds.
 */
const detection: Readonly<Record<Patience, MongoClientOptions>> = {
  usual: { socketTimeoutMS: 5300 },
  long: { heartbeatFrequencyMS: 2000, connectTimeoutMS: 3000, retryReads: false },
};

const observe = (client: MongoClient): MongoClient =>
  client
    .on('commandStarted', ({ commandName, command }) =>
      commandChannel.publish({ system: 'mongodb', name: commandName, command } satisfies DatabaseCommand),
    )
    .on('commandSucceeded', ({ commandName, duration }) => log.debug({ mongodb: commandName, ms: duration }));

const managed = new Map<Patience, Promise<MongoClient>>();

const connect = async (patience: Patience): Promise<MongoClient> => {
  const { MONGODB_URI, MONGODB_SECRET_ARN } = mongoSettings();
  const uri = MONGODB_URI ?? (MONGODB_SECRET_ARN ? await secret(MONGODB_SECRET_ARN) : undefined);
  if (!uri) throw new Error('Neither MONGODB_URI nor MONGODB_SECRET_ARN is set');
  const monitorCommands = commandChannel.hasSubscribers || log.isDebug();
  const client = new MongoClient(uri, { ...options, ...detection[patience], monitorCommands });
  return monitorCommands ? observe(client) : client;
};

/** The client of our own cluster in this process, and a second one where operations are to take long; connects on first use. */
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

/** Closes the connections of this process; for scripts and tests that want to end. */
export const closeMongo = async (): Promise<void> => {
  const open = [...managed.values()];
  managed.clear();
  await Promise.all(open.map(async (client) => (await client).close()));
};

const databases = new WeakMap<MongoClient, Map<string, Db>>();
const rememberedDatabases = 1000;

/** The driver works out a database's options anew each time it is asked for one, which a warm request need not pay. */
const databaseOf = (client: MongoClient, name: string): Db => {
  const known = databases.get(client) ?? new Map<string, Db>();
  databases.set(client, known);
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

/** The driver lets an error of the socket itself through where the other end closed it a moment ago. */
const isSocketFailure = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && socketFailures.has(error.code);

const run = async <T>(name: string, operation: (db: Db) => Promise<T>, limitMs = operationLimitMs): Promise<T> => {
  const patience = limitMs > operationLimitMs ? 'long' : 'usual';
  try {
    return await timed(limitMs, async () => operation(databaseOf(await managedClient(patience), name)));
  } catch (error) {
    if (error instanceof MongoError || isOverdue(error) || isSocketFailure(error)) throw mongoFailure(error);
    throw error;
  }
};

/** Runs an operation on the control database: developers, projects, collections. Driver failures become `AppError`. */
export const onControl = <T>(operation: (db: Db) => Promise<T>): Promise<T> =>
  run(mongoSettings().CONTROL_DATABASE, operation);

/** Name of a managed project's own database: a join can never leave the project. */
export const projectDatabaseName = (projectId: string): string => `p_${projectId}`;

/**
 * Runs an operation on the project's own database. Driver failures become `AppError`. `limitMs` is for what takes longer
 * than a request's usual reads and writes, such as building an index.
 */
export const onProject = <T>(
  project: Project,
  operation: (db: Db) => Promise<T>,
  limitMs = operationLimitMs,
): Promise<T> => {
  if (project.placement.kind === 'external') {
    throw new AppError('DATABASE_UNAVAILABLE', 'The database of this project cannot be reached.', { retryAfter: 5 });
  }
  return run(projectDatabaseName(project.id), operation, limitMs);
};
