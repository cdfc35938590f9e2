/** The fields of a document. */
export type State = Readonly<Record<string, unknown>>;

/** A request to one document, and its response. Times are of one clock. */
export interface Request {
  readonly name: string;
  readonly begin: number;
  readonly end: number;
  /** The state after a write; a code if the write is rejected in a state; the state itself for a read. */
  readonly apply: (state: State, revision: number) => State | string;
  /** The code of an error, or the returned fields. */
  readonly response: State | string;
  /** Of the returned document. */
  readonly revision?: number | undefined;
  readonly isRead?: boolean;
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The successful writes by revision, from 2 on. Throws if a revision is missing or was returned twice. */
const writesOf = (requests: readonly Request[]): readonly Request[] => {
  const writes: Request[] = [];
  for (const request of requests) {
    if (request.isRead || typeof request.response === 'string' || request.revision === undefined) continue;
    if (writes[request.revision - 2]) throw new Error(`Two writes returned revision ${request.revision}`);
    writes[request.revision - 2] = request;
  }
  for (const at of writes.keys()) if (!writes[at]) throw new Error(`No write returned revision ${at + 2}`);
  return writes;
};

/** True if a request that wrote nothing can have this response in a state. */
const suits = ({ apply, response, revision, isRead }: Request, state: State, at: number): boolean => {
  if (revision !== undefined && revision !== at) return false;
  return isRead ? same(response, state) : apply(state, at) === response;
};

/**
 * Throws unless the requests to one document are linearizable: all of them have an order in which each has the response
 * that a document without concurrency would give, and which keeps the order of requests that do not overlap.
 * The revisions order the writes. Every other request takes the earliest state that explains its response and that is
 * not before the states of the requests that ended before it began; a later one would only limit the next ones.
 */
export const requireLinearizable = (initial: State, requests: readonly Request[]): void => {
  const states: State[] = [initial];
  for (const write of writesOf(requests)) {
    const revision = states.length;
    const next = write.apply(states[revision - 1] ?? {}, revision);
    if (!same(next, write.response)) {
      const expected = JSON.stringify(next);
      throw new Error(
        `${write.name} returned ${JSON.stringify(write.response)} as revision ${revision + 1}, not ${expected}`,
      );
    }
    states.push(write.response as State);
  }
  const placed: { readonly end: number; readonly revision: number }[] = [];
  for (const request of requests.toSorted((a, b) => a.begin - b.begin)) {
    const earliest = placed.reduce(
      (most, { end, revision }) => (end < request.begin ? Math.max(most, revision) : most),
      1,
    );
    const isWrite = !request.isRead && typeof request.response !== 'string';
    const revision = isWrite
      ? (request.revision ?? 0)
      : states.findIndex((state, at) => at + 1 >= earliest && suits(request, state, at + 1)) + 1;
    if (revision < (isWrite ? earliest + 1 : earliest)) {
      throw new Error(
        `${request.name}: no state from revision ${earliest} on explains ${JSON.stringify(request.response)}`,
      );
    }
    placed.push({ end: request.end, revision });
  }
};
