import { clock } from './clock.ts';

interface Entry<T> {
  readonly value: Promise<T>;
  readonly expires: number;
}

/** Values that are to push out none but each other. */
interface Misses<T> {
  readonly isMiss: (value: T) => boolean;
  readonly size: number;
}

/**
 * Remembers what `load` answered for a key: for `ttlMs` from the moment the load began, at most `size` keys, one load
 * at a time for a key however many ask. A failed load is not remembered. Misses and loads under way have a room of
 * their own.
 */
export class ShortCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #apart = new Map<string, Entry<T>>();
  readonly #ttlMs: number;
  readonly #size: number;
  readonly #misses: Misses<T> | undefined;

  constructor(ttlMs: number, size: number, misses?: Misses<T>) {
    this.#ttlMs = ttlMs;
    this.#size = size;
    this.#misses = misses;
  }

  get(key: string, load: () => Promise<T>): Promise<T> {
    const now = clock.now();
    const known = this.#entries.get(key) ?? this.#apart.get(key);
    if (known && known.expires > now) return known.value;
    const entry = { value: load(), expires: now + this.#ttlMs };
    this.#entries.delete(key);
    if (this.#misses) this.#keepApart(key, entry, this.#misses);
    else this.#keep(this.#entries, this.#size, key, entry);
    return entry.value;
  }

  #keep(entries: Map<string, Entry<T>>, size: number, key: string, entry: Entry<T>): void {
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > size) entries.delete(entries.keys().next().value as string);
    entry.value.catch(() => {
      if (entries.get(key) === entry) entries.delete(key);
    });
  }

  #keepApart(key: string, entry: Entry<T>, { isMiss, size }: Misses<T>): void {
    this.#keep(this.#apart, size, key, entry);
    const settle = (value: T): void => {
      if (isMiss(value)) return;
      if (this.#apart.get(key) === entry) this.#apart.delete(key);
      this.#keep(this.#entries, this.#size, key, entry);
    };
    entry.value.then(settle, () => undefined);
  }

  clear(): void {
    this.#entries.clear();
    this.#apart.clear();
  }
}
