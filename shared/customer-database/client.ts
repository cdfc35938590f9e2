import { type Db, MongoClient, type MongoClientOptions, MongoServerSelectionError } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { pinnedLookup } from '../outbound/restricted-addresses.ts';
import { isOverdue, monitored, timedCustomer } from '../persistence/mongo-commands.ts';
import { customerDatabaseUnavailable, mongoFailure } from '../persistence/mongo-errors.ts';
import { noFieldsAsRaw } from '../persistence/raw-documents.ts';
import type { Placement } from '../persistence/records.ts';
import { endClient, GuardedConnections, guardMembers, keepConnections } from './guards.ts';
import { type DatabaseUri, parseDatabaseUri, resolveSeeds, seedText, type Target, UnsupportedUri } from './uri.ts';

export interface OpenDatabase {
  readonly client: MongoClient;
  readonly db: Db;
}

interface Entry {
  readonly opened: Promise<OpenDatabase>;
  users: number;
  retired: boolean;
  closed: boolean;
}

/** A client in use. The holder releases it and may retire it first. */
interface Lease {
  readonly opened: Promise<OpenDatabase>;
  /** The client closes when unused; the next caller opens another one. */
  retire(): void;
  /** The client closes immediately; running operations fail. */
  drop(): void;
  giveBack(): void;
}

/** At most `size` clients; the least recently used one goes first, unless it is in use. */
export class ClientCache {
  readonly #entries = new Map<string, Entry>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  lease(key: string, open: () => Promise<OpenDatabase>): Lease {
    const entry = this.#entryOf(key, open);
    entry.users += 1;
    return {
      opened: entry.opened,
      retire: () => this.#retire(key, entry),
      drop: () => {
        this.#retire(key, entry);
        void this.#close(entry);
      },
      giveBack: () => {
        entry.users -= 1;
        this.#closeUnused(entry);
      },
    };
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(entries.map((entry) => this.#close(entry)));
  }

  #entryOf(key: string, open: () => Promise<OpenDatabase>): Entry {
    const entry = this.#entries.get(key) ?? { opened: open(), users: 0, retired: false, closed: false };
    entry.opened.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const [oldest, unused] of this.#entries) {
      if (this.#entries.size <= this.#size) break;
      this.#retire(oldest, unused);
    }
    return entry;
  }

  /** The key may already have another client, which stays. */
  #retire(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    entry.retired = true;
    this.#closeUnused(entry);
  }

  #closeUnused(entry: Entry): void {
    if (entry.retired && entry.users === 0) void this.#close(entry);
  }

  async #close(entry: Entry): Promise<void> {
    if (entry.closed) return;
    entry.closed = true;
    await entry.opened.then(({ client }) => endClient(client)).catch(() => undefined);
  }
}

/** The driver rejects option combinations that its types allow. */
const newClient = (uri: string, options: MongoClientOptions): MongoClient => {
  const connections = new GuardedConnections();
  const { connectionType } = connections;
  try {
    return keepConnections(new MongoClient(uri, { ...options, connectionType } as MongoClientOptions), connections);
  } catch {
    throw new UnsupportedUri();
  }
};

/**
 * Connects on first use, and only to addresses that are checked at that moment. A server that sends anything but a
 * reply, or too much, is disconnected. `endClient` closes the client even if its servers hang. Throws `UnsupportedUri`
 * for incompatible options. `onRefused` is called when a server names a restricted member.
 */
export const openClient = (
  { credentials, authDatabase }: DatabaseUri,
  {
    seeds,
    options: { w = 'majority', journal = true, readConcernLevel, authSource = authDatabase, authMechanism, ...options },
  }: Target,
  settings: MongoClientOptions,
  onRefused?: () => void,
): MongoClient => {
  const client = newClient(`mongodb://${seeds.map(seedText).join(',')}/`, {
    appName: 'basalt',
    ...settings,
    ...options,
    ...(credentials ? { auth: credentials, authSource, ...(authMechanism ? { authMechanism } : {}) } : {}),
    ...(readConcernLevel ? { readConcernLevel } : {}),
    writeConcern: { w, journal },
    lookup: pinnedLookup,
    serverMonitoringMode: 'poll',
    ignoreUndefined: true,
    fieldsAsRaw: noFieldsAsRaw,
    // Documents that others wrote may contain anything.
    enableUtf8Validation: false,
  });
  return guardMembers(client, onRefused);
};

type External = Extract<Placement, { readonly kind: 'external' }>;

const maxClients = 20;
const clients = new ClientCache(maxClients);

const open = async ({ openUri }: External, settings: MongoClientOptions): Promise<OpenDatabase> => {
  const uri = parseDatabaseUri(await openUri());
  const target = await resolveSeeds(uri);
  const client = monitored((monitor) => openClient(uri, target, { ...settings, ...monitor }));
  return { client, db: client.db(uri.database) };
};

/** A customer's database can reply with anything, so uninterpretable errors count as outages. */
const failureOf = (error: unknown): AppError => {
  const failure = mongoFailure(error);
  if (failure instanceof AppError && failure.code !== 'DATABASE_UNAVAILABLE') return failure;
  return customerDatabaseUnavailable(failure instanceof AppError ? failure.cause : error);
};

/**
 * The next request gets another client. Servers may have moved; after a timeout, the old client may still be receiving
 * data in a process that serves others.
 */
const giveUp = (lease: Lease, error: unknown): void => {
  if (isOverdue(error)) lease.drop();
  else if (error instanceof MongoServerSelectionError) lease.retire();
};

/**
 * Runs an operation on a customer's database, through a client that no other project uses. `kind` names the `settings`
 * and `limitMs` of similar operations. Throws the caller's errors as on our database, and 503
 * `OWN_DATABASE_UNAVAILABLE` for all others.
 */
export const onCustomerDatabase = async <T>(
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
    return await timedCustomer(limitMs, async () => operation((await lease.opened).db));
  } catch (error) {
    giveUp(lease, error);
    throw failureOf(error);
  } finally {
    lease.giveBack();
  }
};

export const closeCustomerDatabases = (): Promise<void> => clients.close();
