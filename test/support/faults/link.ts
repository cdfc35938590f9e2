import { connect, type Socket } from 'node:net';
import type { ConnectionFault } from './fault.ts';
import type { ProxyTarget } from './proxy.ts';

const arrivalMs = 3000;
/** Longer than one attempt at table, queues or files. */
const delayMs = 2600;

/** Callbacks of a connection. */
interface Watcher {
  readonly faultOf: (chunk: Buffer) => ConnectionFault | undefined;
  readonly onActivity: () => void;
  readonly onEnd: () => void;
}

/** A client's connection and its target. */
export class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #onEnd: () => void;
  #kept: Buffer[] = [];
  #mode: 'open' | 'losing' | 'keeping' | 'lost' = 'open';
  #answered: (() => void) | undefined;

  constructor(client: Socket, target: ProxyTarget, { faultOf, onActivity, onEnd }: Watcher) {
    this.#client = client;
    this.#server = connect(target);
    this.#onEnd = onEnd;
    client.on('data', (chunk: Buffer) => {
      onActivity();
      if (this.#mode === 'keeping') this.#kept.push(chunk);
      else if (this.#mode !== 'lost') this.#take(chunk, faultOf(chunk));
    });
    this.#server.on('data', (chunk: Buffer) => {
      onActivity();
      this.#answered?.();
      if (this.#mode === 'losing') this.cut();
      else if (this.#mode === 'open') client.write(chunk);
    });
    client.on('error', () => undefined).on('close', () => this.#mode !== 'keeping' && this.cut());
    this.#server.on('error', () => undefined).on('close', () => this.#mode !== 'lost' && this.cut());
  }

  #take(chunk: Buffer, fault: ConnectionFault | undefined): void {
    switch (fault) {
      case 'cut':
        this.cut();
        return;
      case 'cut halfway':
        this.#server.write(chunk.subarray(0, chunk.length >> 1), () => this.cut());
        return;
      case 'hang':
      case 'fall silent':
      case 'late':
      case 'delay':
        this.#mode = 'keeping';
        this.#kept.push(chunk);
        if (fault === 'late') this.#client.destroy();
        if (fault === 'delay') setTimeout(() => void this.release(), delayMs).unref();
        return;
      case 'lose the answer':
        this.#mode = 'losing';
        this.#server.write(chunk);
        return;
      case undefined:
        this.#server.write(chunk);
    }
  }

  /** Holds all bytes of both directions until it is released. */
  hold(): void {
    this.#client.pause();
    this.#server.pause();
  }

  /** Delivers held requests and waits for their responses; nobody receives those of late ones. */
  async release(): Promise<void> {
    this.#client.resume();
    this.#server.resume();
    if (this.#mode !== 'keeping') return;
    const answered = new Promise<void>((resolve) => {
      this.#answered = resolve;
      this.#server.once('close', () => resolve());
      setTimeout(resolve, arrivalMs).unref();
    });
    for (const chunk of this.#kept.splice(0)) this.#server.write(chunk);
    this.#mode = 'open';
    await answered;
    if (this.#client.destroyed) this.cut();
  }

  /** Silent forever on an open connection. */
  lose(): void {
    this.#mode = 'lost';
    this.#server.destroy();
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
    this.#answered?.();
    this.#onEnd();
  }
}
