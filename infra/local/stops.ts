type Stop = () => Promise<void>;

/** A stack of clean-up functions: run once, in reverse order, however often it is asked for. */
export class Stops {
  readonly #stops: Stop[] = [];
  #running: Promise<void> | undefined;

  /** Ended at once where everything else already is. */
  add(stop: Stop): void {
    if (this.#running !== undefined) void this.#running.then(stop);
    else this.#stops.push(stop);
  }

  run(): Promise<void> {
    this.#running ??= this.#runAll();
    return this.#running;
  }

  async #runAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const stop of this.#stops.reverse()) await stop().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'Some parts did not stop in order');
  }
}
