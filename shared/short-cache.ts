import { clock } from './clock.ts';

interface Entry<T> {
  readonly value: Promise<T>;
  readonly expires: number;
}

/**
 * Remembers what `load` answered for a key: for `ttlMs` from the moment the load began, at most `size` keys, one load at a
 * time for a key however many ask. A failed load is not remembered.
 */
export class ShortCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #ttlMs: number;
  readonly #size: number;

  constructor(ttlMs: number, size: number) {
    this.#ttlMs = ttlMs;
    this.#size = size;
  }

  get(key: string, load: () => Promise<T>): Promise<T> {
    const now = clock.now();
    const known = this.#entries.get(key);
    if (known && known.expires > now) return known.value;
    const value = load();
    this.#entries.delete(key);
    this.#entries.set(key, { value, expires: now + this.#ttlMs });
    if (this.#entries.size > this.#size) this.#entries.delete(this.#entries.keys().next().value as string);
    value.catch(() => {
      if (this.#entries.get(key)?.value === value) this.#entries.delete(key);
    });
    return value;
  }

  clear(): void {
    this.#entries.clear();
  }
}
