import { type Db, MongoClient, type MongoClientOptions, MongoServerSelectionError } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { pinnedLookup } from '../outbound/lookup.ts';
import { isOverdue, monitored, timedCustomer } from '../persistence/mongo-commands.ts';
import { customerDatabaseUnavailable, mongoFailure } from '../persistence/mongo-errors.ts';
import { noFieldsAsRaw } from '../persistence/raw-documents.ts';
import type { Placement } from '../persistence/records.ts';
import { endClient, GuardedConnections, guardMembers, keepConnections } from './guards.ts';
import { type DatabaseUri, parseDatabaseUri, resolveSeeds, seedText, type Target, UnsupportedUri } from './uri.ts';

/** A client and the database that its documents are in. */
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

/** A client in somebody's hands; whoever takes it gives it back, and may say before what is wrong with it. */
interface Lease {
  readonly opened: Promise<OpenDatabase>;
  /** Has the client closed as soon as nobody uses it, and another opened for the next one who asks. */
  retire(): void;
  /** Has the client closed at once, whoever uses it: what they wait for fails. */
  drop(): void;
  giveBack(): void;
}

/** At most `size` clients of customers' databases; the longest unused goes first, none in use unless it is dropped. */
export class ClientCache {
  readonly #entries = new Map<string, Entry>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  /** The client of a key; the first to ask has it opened. What could not be opened is not remembered. */
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

  /** The key may have another client by now, which stays. */
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

/** The driver rejects combinations of options that its types allow. */
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
 * A client of a customer's database; connects on first use, and only to addresses that are checked at that moment. What
 * a server sends that is no reply, or larger than one, ends its connection; `endClient` closes it whatever its servers
 * do. Options that the driver does not take together → `UnsupportedUri`. `onRefused` is told when a server names a
 * member that is restricted.
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
    // Documents that others have written may hold anything.
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

/** Errors that the driver cannot interpret count as outages too: a customer's database may reply with anything. */
const failureOf = (error: unknown): AppError => {
  const failure = mongoFailure(error);
  if (failure instanceof AppError && failure.code !== 'DATABASE_UNAVAILABLE') return failure;
  return customerDatabaseUnavailable(failure instanceof AppError ? failure.cause : error);
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

/** Closes this process's connections to customers' databases, so that scripts and tests can exit. */
export const closeCustomerDatabases = (): Promise<void> => clients.close();
