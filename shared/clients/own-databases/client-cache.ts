import type { Db, MongoClient } from 'mongodb';

/** A client and the database that its documents are in. */
export interface OpenDatabase {
  readonly client: MongoClient;
  readonly db: Db;
}

interface Entry {
  readonly opened: Promise<OpenDatabase>;
  users: number;
  retired: boolean;
}

/** Clients of customers' databases in one process: at most `size`, the longest unused goes first, none closed while in use. */
export class ClientCache {
  readonly #entries = new Map<string, Entry>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  /** Runs `act` with the client of a key; the first to ask has it opened. What could not be opened is not remembered. */
  async use<T>(key: string, open: () => Promise<OpenDatabase>, act: (opened: OpenDatabase) => Promise<T>): Promise<T> {
    const entry = this.#entryOf(key, open);
    entry.users += 1;
    try {
      return await act(await entry.opened);
    } finally {
      entry.users -= 1;
      this.#closeUnused(entry);
    }
  }

  /** Has a client closed as soon as nobody uses it, and another opened for the next one who asks. */
  retire(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    entry.retired = true;
    this.#closeUnused(entry);
  }

  /** Closes every client, used or not. */
  async close(): Promise<void> {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.allSettled(entries.map(async ({ opened }) => (await opened).client.close()));
  }

  #entryOf(key: string, open: () => Promise<OpenDatabase>): Entry {
    const entry = this.#entries.get(key) ?? { opened: open(), users: 0, retired: false };
    entry.opened.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#size) this.retire(this.#entries.keys().next().value as string);
    return entry;
  }

  #closeUnused(entry: Entry): void {
    if (!entry.retired || entry.users > 0) return;
    entry.opened.then(({ client }) => client.close()).catch(() => undefined);
  }
}
