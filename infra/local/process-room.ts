/** Limits the number of processes. If the limit is reached, ends the process that has been idle for longest. */
export class ProcessRoom {
  readonly #max: number;
  /** Process → how to end it, the longest idle first. */
  readonly #idle = new Map<object, () => void>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #leaving = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Waits until one more process may start. */
  async acquire(): Promise<void> {
    if (this.#taken < this.#max) {
      this.#taken += 1;
      return;
    }
    const released = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#makeRoom();
    await released;
  }

  /** The process has ended. */
  release(process: object): void {
    this.#idle.delete(process);
    this.#leaving = Math.max(0, this.#leaving - 1);
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken -= 1;
  }

  /** The process is idle; `end` ends it if another one needs its room. */
  idle(process: object, end: () => void): void {
    this.#idle.set(process, end);
    this.#makeRoom();
  }

  /** The process is no longer idle. */
  busy(process: object): void {
    this.#idle.delete(process);
  }

  #makeRoom(): void {
    for (const [process, end] of this.#idle) {
      if (this.#leaving >= this.#waiting.length) return;
      this.#leaving += 1;
      this.#idle.delete(process);
      end();
    }
  }
}
