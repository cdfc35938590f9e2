/** A proxy's own response. */
export interface Reply {
  /** Default: 200. */
  readonly status?: number;
  /** Default type: JSON. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent unchanged, everything else as JSON. */
  readonly body?: unknown;
  /** Endless: repeats the body as fast as it is read, or sends a space five times per second. */
  readonly endless?: 'fast' | 'slow';
}

/**
 * The fate of one request:
 * - `cut`: the connection ends before the request arrives
 * - `cut halfway`: the first half of it arrives
 * - `lose the answer`: it is carried out, and the connection ends instead of the response
 * - `hang`: it waits until the proxy is healed and is then carried out, even if no one waits for it
 * - `late`: the client is disconnected immediately; the request is done when the proxy is healed
 * - `delay`: it arrives later than the timeout of one attempt at the table, the queues or the files
 * - `fall silent`: it and everything after it, on every connection, waits until the proxy is healed
 */
export type ConnectionFault = 'cut' | 'cut halfway' | 'lose the answer' | 'hang' | 'late' | 'delay' | 'fall silent';

/**
 * The fate of an HTTP request: one of the faults above; it is done without a response; it hangs forever; or it gets
 * this status or response without reaching the service.
 */
export type HttpFault = 'cut' | 'lose the answer' | 'never answer' | 'hang' | number | Reply;

/** The requests that a fault applies to; all by default. */
export interface Which<Request> {
  readonly of?: (request: Request) => boolean;
  /** Number of matching requests before the first fault. */
  readonly after?: number;
  /** Number of requests with the fault; later ones get the next matching fault. */
  readonly times?: number;
}

interface Rule<Request, Fault> {
  readonly decide: (request: Request) => Fault | undefined;
  readonly last: number;
  met: number;
  seen: number;
}

/** Planned faults; the first matching one applies. */
export class Faults<Request, Fault extends ConnectionFault | HttpFault> {
  #rules: Rule<Request, Fault>[] = [];

  /** Adds a fault or a function that decides for each request. Returns a function that counts the affected requests. */
  add(
    fault: Fault | ((request: Request) => Fault | undefined),
    { of = () => true, after = 0, times = Number.POSITIVE_INFINITY }: Which<Request> = {},
  ): () => number {
    const rule: Rule<Request, Fault> = {
      decide: (request) => {
        if (!of(request) || rule.seen++ < after) return undefined;
        return typeof fault === 'function' ? fault(request) : fault;
      },
      last: times,
      met: 0,
      seen: 0,
    };
    this.#rules.push(rule);
    return () => rule.met;
  }

  /** The fault of this request. */
  of(request: Request): Fault | undefined {
    for (const rule of this.#rules) {
      const fault = rule.met < rule.last ? rule.decide(request) : undefined;
      if (fault === undefined) continue;
      rule.met += 1;
      return fault;
    }
    return undefined;
  }

  clear(): void {
    this.#rules = [];
  }
}
