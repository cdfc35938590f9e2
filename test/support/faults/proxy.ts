import { createServer, type Server, type Socket } from 'node:net';
import { listen } from '../../../infra/local/ports.ts';
import { freePorts } from '../clients/free-ports.ts';
import { type ConnectionFault, Faults, type Which } from './fault.ts';
import { Link } from './link.ts';

/** Where a proxy leads: a port on loopback, or a Unix socket. */
export type ProxyTarget = { readonly port: number } | { readonly path: string };

/**
 * A TCP proxy on loopback in front of a part of the stack, with the faults that networks and dying servers have. What a
 * client writes at once is taken for a request.
 */
export class FaultProxy {
  readonly port: number;
  target: ProxyTarget;
  /** When a byte went through last, by `performance.now()`. */
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
    // Not one of those that the system gives to others while nobody listens here.
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

  /** Has requests meet a fault, those in which a text stands for instance; answers how to ask how many have. */
  meet(
    fault: ConnectionFault | ((chunk: Buffer) => ConnectionFault | undefined),
    { of = '', ...which }: Omit<Which<Buffer>, 'of'> & { readonly of?: string } = {},
  ): () => number {
    return this.#faults.add(fault, { ...which, of: (chunk) => chunk.includes(of) });
  }

  /** Holds every byte, on old and new connections, until `heal`. */
  hang(): void {
    this.#holding = true;
    for (const link of this.#links) link.hold();
  }

  /**
   * The connections there are stay open and silent for good; new ones work. Answers how to ask how many of them no
   * client has given up yet.
   */
  loseConnections(): () => number {
    const lost = [...this.#links];
    for (const link of lost) link.lose();
    return () => lost.filter((link) => this.#links.has(link)).length;
  }

  /** Closes every connection and refuses new ones until `heal`. */
  async refuse(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const link of this.#links) link.cut();
    await closed;
  }

  /** Lets arrive what was kept back on single connections, and waits until it was answered. */
  async release(): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.release()));
  }

  /** Ends whatever fault there is; what was held goes on its way. */
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
