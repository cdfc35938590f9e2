import { createServer, type Server, type Socket } from 'node:net';
import { listen } from '../../../infra/local/ports.ts';
import { freePorts } from '../clients/free-ports.ts';
import { type ConnectionFault, Faults, type Which } from './fault.ts';
import { Link } from './link.ts';

/** A proxy's target: a port on loopback or a Unix socket. */
export type ProxyTarget = { readonly port: number } | { readonly path: string };

/**
 * A TCP proxy on loopback with faults of networks and crashing servers. Data that a client writes at once counts as one
 * request.
 */
export class FaultProxy {
  readonly port: number;
  target: ProxyTarget;
  /** When the last byte passed, by `performance.now()`. */
  activeAt = 0;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #faults = new Faults<Buffer, ConnectionFault>();
  #holding = false;

  private constructor(server: Server, port: number, target: ProxyTarget) {
    this.#server = server;
    this.port = port;
    this.target = target;
    server.on('connection', (client) => this.#open(client));
  }

  static async start(target: ProxyTarget): Promise<FaultProxy> {
    const server = createServer();
    // Outside of the system's range for outgoing connections.
    return new FaultProxy(server, await listen(server, await freePorts()), target);
  }

  #open(client: Socket): void {
    const link = new Link(client, this.target, {
      faultOf: (chunk) => this.#faultOf(chunk),
      onActivity: () => {
        this.activeAt = performance.now();
      },
      onEnd: () => this.#links.delete(link),
    });
    this.#links.add(link);
    if (this.#holding) link.hold();
  }

  #faultOf(chunk: Buffer): ConnectionFault | undefined {
    const fault = this.#faults.of(chunk);
    if (fault === 'fall silent') this.hang();
    return fault;
  }

  /**
   * Plans a fault, for example for requests that contain a text. Returns a function that counts the affected requests.
   */
  meet(
    fault: ConnectionFault | ((chunk: Buffer) => ConnectionFault | undefined),
    { of = '', ...which }: Omit<Which<Buffer>, 'of'> & { readonly of?: string } = {},
  ): () => number {
    return this.#faults.add(fault, { ...which, of: (chunk) => chunk.includes(of) });
  }

  /** Holds all bytes on old and new connections until `heal`. */
  hang(): void {
    this.#holding = true;
    for (const link of this.#links) link.hold();
  }

  /**
   * Existing connections stay open and silent forever; new ones work. Returns a function that counts those that no
   * client has closed.
   */
  loseConnections(): () => number {
    const lost = [...this.#links];
    for (const link of lost) link.lose();
    return () => lost.filter((link) => this.#links.has(link)).length;
  }

  /** Closes all connections and rejects new ones until `heal`. */
  async refuse(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const link of this.#links) link.cut();
    await closed;
  }

  /** Delivers held requests of single connections and waits for their responses. */
  async release(): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.release()));
  }

  /** Ends all faults; held bytes continue. */
  async heal(): Promise<void> {
    this.#faults.clear();
    this.#holding = false;
    await this.release();
    if (!this.#server.listening) await listen(this.#server, this.port);
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.refuse();
  }
}
