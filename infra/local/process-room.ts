/** Limits the number of processes; when the limit is reached, the one that has been idle longest is ended. */
export class ProcessRoom {
  readonly #most: number;
  /** Process → what ends it, the longest idle first. */
  readonly #idle = new Map<object, () => void>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #leaving = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves once there is room for one more process, which then has it until `give`. */
  async take(): Promise<void> {
    if (this.#taken < this.#most) {
      this.#taken += 1;
      return;
    }
    const given = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#makeRoom();
    await given;
  }

  /** A process has ended: its room goes to whoever waits. */
  give(process: object): void {
    this.#idle.delete(process);
    this.#leaving = Math.max(0, this.#leaving - 1);
    const next = this.#waiting.shift();
    if (next) next();
    else this.#taken -= 1;
  }

  /** The process has nothing to do; `end` ends it, should its room be needed. */
  idle(process: object, end: () => void): void {
    this.#idle.set(process, end);
    this.#makeRoom();
  }

  /** The process has something to do again. */
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
