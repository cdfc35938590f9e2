import { connect, createServer, type Server, type Socket } from 'node:net';
import { listen } from '../../../infra/local/ports.ts';
import { freePorts } from '../clients/free-ports.ts';

/** Where a proxy leads: a port on loopback, or a Unix socket. */
export type ProxyTarget = { readonly port: number } | { readonly path: string };

/** Where the connection is cut: half of the request has gone through, or all of it and the reply is lost. */
export type CutPlace = 'in the request' | 'before the reply';

interface Cut {
  readonly text: string;
  readonly place: CutPlace;
  left: number;
}

/** A connection of a client with what it leads to. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  #held: Buffer | undefined;
  #cutReply = false;
  #lost = false;

  constructor(client: Socket, server: Socket, faultFor: (request: Buffer) => CutPlace | 'hang' | undefined) {
    this.#client = client;
    this.#server = server;
    client.on('data', (chunk: Buffer) => {
      if (this.#lost) return;
      const fault = faultFor(chunk);
      if (fault === 'hang') {
        this.#held = chunk;
        return;
      }
      if (fault === 'in the request') {
        server.write(chunk.subarray(0, chunk.length >> 1), () => this.cut());
        return;
      }
      if (fault === 'before the reply') this.#cutReply = true;
      server.write(chunk);
    });
    server.on('data', (chunk: Buffer) => {
      if (this.#lost) return;
      if (this.#cutReply) this.cut();
      else client.write(chunk);
    });
    const ended = (): void => {
      if (!this.#lost) this.cut();
    };
    for (const socket of [client, server]) socket.on('error', ended).on('close', ended);
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  hold(): void {
    this.#client.pause();
    this.#server.pause();
  }

  release(): void {
    if (this.#held) this.#server.write(this.#held);
    this.#held = undefined;
    this.#client.resume();
    this.#server.resume();
  }

  /** Silent for good, on a connection that looks open. */
  lose(): void {
    this.#lost = true;
    this.#server.destroy();
  }
}

/** A TCP proxy on loopback in front of a part of the stack, with the faults that networks and dying servers have. */
export class FaultProxy {
  readonly port: number;
  target: ProxyTarget;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #holding = false;
  #cut: Cut | undefined;
  #hangText: string | undefined;

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
    const link = new Link(client, connect(this.target), (request) => this.#faultFor(request));
    this.#links.add(link);
    client.on('close', () => this.#links.delete(link));
    if (this.#holding) link.hold();
  }

  #faultFor(request: Buffer): CutPlace | 'hang' | undefined {
    if (this.#hangText !== undefined && request.includes(this.#hangText)) {
      this.hang();
      return 'hang';
    }
    const cut = this.#cut;
    if (!cut || cut.left === 0 || !request.includes(cut.text)) return undefined;
    cut.left -= 1;
    return cut.place;
  }

  /**
   * Cuts the connections of the next requests, one or `times`, in which `text` stands. Answers how many were cut so
   * far.
   */
  cutNext(text: string, place: CutPlace, times = 1): () => number {
    const cut: Cut = { text, place, left: times };
    this.#cut = cut;
    return () => times - cut.left;
  }

  /** Holds every byte, on old and new connections, until `heal`. */
  hang(): void {
    this.#holding = true;
    for (const link of this.#links) link.hold();
  }

  /** Holds everything from the next request on in which `text` stands, that request included, until `heal`. */
  hangAt(text: string): void {
    this.#hangText = text;
  }

  /** The connections there are stay open and silent for good; new ones work. */
  loseConnections(): void {
    for (const link of this.#links) link.lose();
  }

  /** Closes every connection and refuses new ones until `heal`. */
  async refuse(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const link of this.#links) link.cut();
    await closed;
  }

  /** Ends whatever fault there is; what was held goes on its way. */
  async heal(): Promise<void> {
    this.#cut = undefined;
    this.#hangText = undefined;
    this.#holding = false;
    for (const link of this.#links) link.release();
    if (!this.#server.listening) await listen(this.#server, this.port);
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.refuse();
  }
}
