import type { Random } from './random.ts';

/** Objects that several clients use at the same time. Each is replaced after some uses, so that no history is too long. */
export class Keys<Key = string> {
  readonly all: Key[] = [];
  readonly #slots: { readonly key: Key; used: number }[] = [];
  readonly #size: number;
  readonly #uses: number;
  readonly #create: () => Key;

  constructor(size: number, uses: number, create: () => Key) {
    this.#size = size;
    this.#uses = uses;
    this.#create = create;
  }

  /** Any of the present objects; `isNew` at its first use. */
  next(random: Random): { readonly key: Key; readonly isNew: boolean } {
    const at = random(this.#size);
    let slot = this.#slots[at];
    if (!slot || slot.used >= this.#uses) {
      slot = { key: this.#create(), used: 0 };
      this.#slots[at] = slot;
      this.all.push(slot.key);
    }
    slot.used += 1;
    return { key: slot.key, isNew: slot.used === 1 };
  }

  /** Replaces an object at its next use. */
  drop(key: Key): void {
    for (const slot of this.#slots) if (slot?.key === key) slot.used = this.#uses;
  }
}
