import { clock } from './clock.ts';

/** For how long a miss is cached: short, so that everyone soon sees what was created. */
export const absenceMs = 500;

interface Entry<T> {
  readonly value: Promise<T>;
  loaded?: { readonly value: T };
  /** Invalidated while it was loading, so it is not cached. */
  isStale?: true;
  expires: number;
  weight: number;
}

/** Misses are evicted separately, so that they never evict hits. */
interface Misses<T> {
  readonly isMiss: (value: T) => boolean;
  readonly size: number;
  /** At most the `ttlMs` of hits. */
  readonly ttlMs: number;
}

/** Limits the total size of values that tenants can make large. */
interface Weight<T> {
  readonly of: (value: T) => number;
  readonly most: number;
}

/** Entries in order of insertion. Expired entries go first, then the oldest. */
class Room<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #size: number;
  readonly #weight: Weight<T> | undefined;
  #total = 0;

  constructor(size: number, weight: Weight<T> | undefined) {
    this.#size = size;
    this.#weight = weight;
  }

  get(key: string): Entry<T> | undefined {
    return this.#entries.get(key);
  }

  /** With `only`, drops the key only if it still has this entry. */
  drop(key: string, only?: Entry<T>): void {
    const entry = this.#entries.get(key);
    if (!entry || (only && only !== entry)) return;
    this.#entries.delete(key);
    this.#total -= entry.weight;
  }

  /** An entry is weighed when its value has loaded; one whose load fails is dropped. */
  keep(key: string, entry: Entry<T>): void {
    this.drop(key);
    this.#entries.set(key, entry);
    this.#total += entry.weight;
    this.#trim();
    const weight = this.#weight;
    const settle = (value: T): void => {
      entry.loaded = { value };
      if (weight && this.#entries.get(key) === entry) this.#reweigh(entry, weight.of(value));
    };
    entry.value.then(settle, () => this.drop(key, entry));
  }

  /** Also drops entries that are loading, because they may have been read before the change. */
  dropStale(isStale: (key: string, value: T) => boolean): void {
    for (const [key, entry] of this.#entries) {
      if (entry.loaded && !isStale(key, entry.loaded.value)) continue;
      entry.isStale = true;
      this.drop(key);
    }
  }

  #reweigh(entry: Entry<T>, weight: number): void {
    this.#total += weight - entry.weight;
    entry.weight = weight;
    this.#trim();
  }

  #trim(): void {
    const now = clock.now();
    const most = this.#weight?.most ?? Number.POSITIVE_INFINITY;
    for (const [key, { expires }] of this.#entries) {
      if (expires > now && this.#entries.size <= this.#size && this.#total <= most) return;
      this.drop(key);
    }
  }

  get size(): number {
    return this.#entries.size;
  }
}

/**
 * Caches what `load` resolved to for a key: for `ttlMs` from the start of the load, at most `size` keys, with one load
 * at a time per key. A failed load is not cached. Misses and pending loads are limited separately, so they never evict
 * a hit, and misses are kept for a shorter time.
 */
export class ShortCache<T> {
  readonly #entries: Room<T>;
  readonly #apart: Room<T>;
  readonly #ttlMs: number;
  readonly #misses: Misses<T> | undefined;

  constructor(ttlMs: number, size: number, misses?: Misses<T>, weight?: Weight<T>) {
    this.#ttlMs = ttlMs;
    this.#misses = misses;
    this.#entries = new Room(size, weight);
    this.#apart = new Room(misses?.size ?? 0, weight);
  }

  get(key: string, load: () => Promise<T>): Promise<T> {
    const now = clock.now();
    const known = this.#entries.get(key) ?? this.#apart.get(key);
    if (known && known.expires > now) return known.value;
    const entry: Entry<T> = { value: load(), expires: now + this.#ttlMs, weight: 0 };
    this.#entries.drop(key);
    if (this.#misses) this.#keepApart(key, entry, this.#misses);
    else this.#entries.keep(key, entry);
    return entry.value;
  }

  #keepApart(key: string, entry: Entry<T>, { isMiss, ttlMs }: Misses<T>): void {
    this.#apart.keep(key, entry);
    const settle = (value: T): void => {
      if (entry.isStale) return;
      if (isMiss(value)) {
        entry.expires += ttlMs - this.#ttlMs;
        return;
      }
      this.#apart.drop(key, entry);
      this.#entries.keep(key, entry);
    };
    entry.value.then(settle, () => undefined);
  }

  /** Includes expired keys that have not been evicted yet. */
  get size(): number {
    return this.#entries.size + this.#apart.size;
  }

  /** Also drops entries that are loading: their callers get the value, later ones do not. */
  forget(isStale: (key: string, value: T) => boolean): void {
    this.#entries.dropStale(isStale);
    this.#apart.dropStale(isStale);
  }

  clear(): void {
    this.forget(() => true);
  }
}

/** Calls `make` one time per object and keeps the result for as long as the object exists. */
export const memoizeByObject = <Of extends object, Made extends object>(make: (of: Of) => Made): ((of: Of) => Made) => {
  const known = new WeakMap<Of, Made>();
  return (of) => {
    let made = known.get(of);
    if (!made) {
      made = make(of);
      known.set(of, made);
    }
    return made;
  };
};

/** Sets a value as the newest entry and deletes the oldest one beyond `most`. */
export const setBounded = <T>(known: Map<string, T>, key: string, value: T, most: number): void => {
  known.delete(key);
  known.set(key, value);
  const [oldest] = known.keys();
  if (known.size > most && oldest !== undefined) known.delete(oldest);
};

/** `projectId` has 24 hexadecimal characters. */
type Forget = (projectId: string) => void;

const forgetters: Forget[] = [];

/** Registers a cache of project settings, to be invalidated when this process saves a project. */
export const forgetWhenSaved = (forget: Forget): void => {
  forgetters.push(forget);
};

/**
 * Invalidates what this process caches of a project after its settings, keys or collections were saved. Other processes
 * see the change when their caches expire.
 */
export const projectSaved = (projectId: string): void => {
  for (const forget of forgetters) forget(projectId);
};
