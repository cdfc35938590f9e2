import type { Db, MongoClient } from 'mongodb';
import { endClient } from './guarded-connections.ts';

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
export interface Lease {
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
