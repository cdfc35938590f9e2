interface Shown {
  readonly _id: string;
  readonly _rev?: number;
  readonly [field: string]: unknown;
}

interface Watchable {
  live(where: object, callback: (documents: Shown[]) => unknown, window?: object): () => void;
}

/** Records the callbacks of the client's `live`, and waits for them. */
export class Watching {
  readonly shown: (readonly Shown[])[] = [];
  readonly end: () => void;
  readonly #arrived = new EventTarget();

  constructor(collection: Watchable, where: object = {}, onShow: () => void = () => undefined, window?: object) {
    const show = (documents: Shown[]): void => {
      this.shown.push(documents);
      this.#arrived.dispatchEvent(new Event('shown'));
      onShow();
    };
    this.end = collection.live(where, show, window);
  }

  get latest(): readonly Shown[] {
    return this.shown.at(-1) ?? [];
  }

  /** The next documents that match. */
  async until(fits: (documents: readonly Shown[]) => boolean): Promise<readonly Shown[]> {
    while (this.shown.length === 0 || !fits(this.latest)) {
      await new Promise((resolve) => this.#arrived.addEventListener('shown', resolve, { once: true }));
    }
    return this.latest;
  }
}
