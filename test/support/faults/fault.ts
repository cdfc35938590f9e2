/** What a proxy says in place of what is behind it. */
export interface Reply {
  /** 200 without one. */
  readonly status?: number;
  /** JSON, where they name no other type. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else as JSON. */
  readonly body?: unknown;
  /** Goes on for ever: its body again and again as fast as it is read, or a blank five times a second. */
  readonly endless?: 'fast' | 'slow';
}

/**
 * What becomes of one request on its way:
 * - `cut`: the connection ends before anything of it arrives
 * - `cut halfway`: the first half of it arrives
 * - `lose the answer`: it is done, and the connection ends in place of the answer
 * - `hang`: it waits until the proxy is healed and is done then, whoever still waits for the answer
 * - `late`: the client is cut off at once; it is done when the proxy is healed
 * - `delay`: it arrives after more time than one try at the table, the queues or the files is given
 * - `fall silent`: it and all that comes after it, on every connection, waits until the proxy is healed
 */
export type ConnectionFault = 'cut' | 'cut halfway' | 'lose the answer' | 'hang' | 'late' | 'delay' | 'fall silent';

/**
 * What becomes of one HTTP request: as above; it is done and never answered, or hangs for good; or it is answered with
 * this status or reply, and nothing of it arrives.
 */
export type HttpFault = 'cut' | 'lose the answer' | 'never answer' | 'hang' | number | Reply;

/** Which requests meet a fault; without any of it, all. */
export interface Which<Request> {
  readonly of?: (request: Request) => boolean;
  /** So many of those pass before the first one that meets it. */
  readonly after?: number;
  /** So many meet it; later ones the next fault that fits them. */
  readonly times?: number;
}

interface Rule<Request, Fault> {
  readonly decide: (request: Request) => Fault | undefined;
  readonly last: number;
  met: number;
  seen: number;
}

/** The faults that are to come: the first that fits a request is the one it meets. */
export class Faults<Request, Fault extends ConnectionFault | HttpFault> {
  #rules: Rule<Request, Fault>[] = [];

  /** Adds one, or what decides for each request; answers how to ask how many requests have met it. */
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

  /** What this request meets. */
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
