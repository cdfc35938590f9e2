import { connect, type Socket } from 'node:net';
import type { ProxyTarget } from './proxy.ts';

/**
 * What becomes of what a client has just written: it goes on; the connection is cut, with nothing or half of it gone
 * on, or with the answer lost; it arrives only when the link is released, the client having been cut off at once
 * (`late`) or left waiting (`hold`), or in a while (`delay`).
 */
export type Step = 'pass' | 'cut' | 'cut halfway' | 'lose the answer' | 'late' | 'hold' | 'delay';

const arrivalMs = 3000;
/** More than one try at the table, the queues or the files is given. */
const delayMs = 2600;

/** One connection of a client through a `StepProxy`. */
export class StepLink {
  readonly #client: Socket;
  readonly #server: Socket;
  #kept: Buffer[] = [];
  #mode: 'open' | 'losing' | 'keeping' = 'open';
  #answered: (() => void) | undefined;

  constructor(client: Socket, target: ProxyTarget, decide: (chunk: Buffer) => Step, onActivity: () => void) {
    this.#client = client;
    this.#server = connect(target);
    client.on('data', (chunk: Buffer) => {
      onActivity();
      if (this.#mode === 'keeping') this.#kept.push(chunk);
      else this.#take(chunk, decide(chunk));
    });
    this.#server.on('data', (chunk: Buffer) => {
      onActivity();
      this.#answered?.();
      if (this.#mode === 'losing') this.close();
      else client.write(chunk);
    });
    client.on('error', () => undefined).on('close', () => this.#mode !== 'keeping' && this.close());
    this.#server.on('error', () => undefined).on('close', () => this.close());
  }

  #take(chunk: Buffer, step: Step): void {
    switch (step) {
      case 'pass':
        this.#server.write(chunk);
        return;
      case 'cut':
        this.close();
        return;
      case 'cut halfway':
        this.#server.write(chunk.subarray(0, chunk.length >> 1), () => this.close());
        return;
      case 'lose the answer':
        this.#mode = 'losing';
        this.#server.write(chunk);
        return;
      case 'late':
      case 'hold':
      case 'delay':
        this.#mode = 'keeping';
        this.#kept.push(chunk);
        if (step === 'late') this.#client.destroy();
        if (step === 'delay') setTimeout(() => void this.release(), delayMs).unref();
    }
  }

  /** Lets arrive what was kept back, and waits until it was answered; nobody hears the answer of what was late. */
  async release(): Promise<void> {
    if (this.#mode !== 'keeping') return;
    const answered = new Promise<void>((resolve) => {
      this.#answered = resolve;
      this.#server.once('close', () => resolve());
      setTimeout(resolve, arrivalMs).unref();
    });
    for (const chunk of this.#kept.splice(0)) this.#server.write(chunk);
    this.#mode = 'open';
    await answered;
    if (this.#client.destroyed) this.close();
  }

  close(): void {
    this.#client.destroy();
    this.#server.destroy();
    this.#answered?.();
  }
}
