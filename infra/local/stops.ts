type Stop = () => Promise<void>;

/** Clean-up functions, which run in reverse order. Further calls of `run` wait for the first one. */
export class Stops {
  readonly #stops: Stop[] = [];
  #running: Promise<void> | undefined;

  /** If the others have already run, this one runs immediately. */
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
    if (failures.length > 0) throw new AggregateError(failures, 'Some parts could not be stopped');
  }
}
