import { type Db, type MongoClientOptions, MongoServerSelectionError } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { monitored } from '../commands.ts';
import { mongoFailure, ownUnavailable } from '../mongo-failure.ts';
import type { Placement } from '../placement.ts';
import { isOverdue, timedOwn } from '../timed.ts';
import { ClientCache, type Lease, type OpenDatabase } from './client-cache.ts';
import { parseDatabaseUri } from './database-uri.ts';
import { openClient } from './open-client.ts';
import { resolveSeeds } from './resolve-seeds.ts';

type External = Extract<Placement, { readonly kind: 'external' }>;

const maxClients = 20;
const clients = new ClientCache(maxClients);

const open = async ({ openUri }: External, settings: MongoClientOptions): Promise<OpenDatabase> => {
  const uri = parseDatabaseUri(await openUri());
  const target = await resolveSeeds(uri);
  const client = monitored((monitor) => openClient(uri, target, { ...settings, ...monitor }));
  return { client, db: client.db(uri.database) };
};

/** Errors that the driver cannot interpret count as outages too: a customer's database may reply with anything. */
const failureOf = (error: unknown): AppError => {
  const failure = mongoFailure(error);
  if (failure instanceof AppError && failure.code !== 'DATABASE_UNAVAILABLE') return failure;
  return ownUnavailable(failure instanceof AppError ? failure.cause : error);
};

/**
 * The next request gets another client: where no server was found because they may have moved, where nothing was
 * answered in time because the old one may still be taking in what it is sent, in a process that serves others by then.
 */
const giveUp = (lease: Lease, error: unknown): void => {
  if (isOverdue(error)) lease.drop();
  else if (error instanceof MongoServerSelectionError) lease.retire();
};

/**
 * Runs an operation on a project's own database, through a client of its own that no other project uses. `settings` and
 * `limitMs` are those of operations of a kind, which `kind` names. Whatever goes wrong is an `AppError`: what the
 * caller asked for in a wrong way as on ours, everything else 503 `OWN_DATABASE_UNAVAILABLE`.
 */
export const onOwnDatabase = async <T>(
  placement: External,
  kind: string,
  settings: MongoClientOptions,
  limitMs: number,
  operation: (db: Db) => Promise<T>,
): Promise<T> => {
  const lease = clients.lease(`${kind} ${placement.encryptedUri}`, () =>
    open(placement, { ...settings, maxPoolSize: 2 }),
  );
  try {
    return await timedOwn(limitMs, async () => operation((await lease.opened).db));
  } catch (error) {
    giveUp(lease, error);
    throw failureOf(error);
  } finally {
    lease.giveBack();
  }
};

/** Closes this process's connections to customers' databases, so that scripts and tests can exit. */
export const closeOwnDatabases = (): Promise<void> => clients.close();
