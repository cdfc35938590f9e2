import type { Collection } from '../collections/collection.ts';
import { log } from '../core/log.ts';
import { currentRequest } from '../core/request.ts';
import type { Project } from '../projects/project.ts';
import { flushRefusalsIfDue, logRejected } from '../usage/rejected-requests.ts';
import { countUsage, flushTallyIfDue } from '../usage/tally.ts';
import { errorEnvelope } from './middleware/error-envelope.ts';
import { input, singleHeaders } from './middleware/input.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import type { NamedRoute, Route } from './route.ts';
import { type Event, type Middleware, Stack, sourceAddress } from './stack.ts';

interface RequestLog {
  /** The writes of earlier counts and refusals, in parallel with this request. */
  readonly flushing: Promise<unknown> | undefined;
  readonly project?: Project;
  readonly namedCollection?: Collection;
}

interface Ended {
  readonly event: Event;
  readonly context: Partial<RequestLog>;
  readonly response?: { readonly statusCode: number } | null | undefined;
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

/** Characters. A rejected larger body is not parsed again. */
const maxSearchedBody = 65_536;

/** The values that a request sent. */
function* valuesOf({ pathParameters, rawQueryString, body, isBase64Encoded }: Event): Generator<unknown> {
  yield pathParameters ?? {};
  for (const [, value] of new URLSearchParams(rawQueryString)) {
    yield value;
    yield parsed(value);
  }
  if (body) yield parsed(isBase64Encoded ? Buffer.from(body, 'base64').toString() : body);
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const refusedOf = ({ event, context }: Ended, { path }: NamedRoute) => {
  const record = currentRequest.getStore();
  if (!record?.refusal || !record.projectId || !record.keyKind) return undefined;
  const { refusal: error, projectId, keyKind: key, userId, requestId } = record;
  return logRejected({
    projectId,
    error,
    method: event.requestContext.http.method,
    path,
    key,
    userId,
    requestId,
    address: sourceAddress(event),
    collection: context.namedCollection,
    sent: () => ((event.body?.length ?? 0) > maxSearchedBody ? undefined : valuesOf(event)),
  });
};

const endOf =
  (named: NamedRoute) =>
  async (ended: Ended): Promise<void> => {
    const { context, response } = ended;
    const record = currentRequest.getStore();
    if (!record) return;
    const { route, projectId, requestId, startedAt = performance.now(), code, databaseMs } = record;
    const status = response?.statusCode ?? 500;
    const ms = performance.now() - startedAt;
    log.info({ route, project: projectId, status, code, ms: tenths(ms), databaseMs: tenths(databaseMs), requestId });
    if (context.project) countUsage({ projectId: context.project.id, route, status, ms });
    await Promise.all([context.flushing, refusedOf(ended, named)]);
  };

const flushIfDue = (): Promise<unknown> | undefined => {
  const due = [flushTallyIfDue(), flushRefusalsIfDue()].filter((flush) => flush !== undefined);
  return due.length > 0 ? Promise.all(due) : undefined;
};

/**
 * Logs one JSON line per request, without bodies, keys or tokens. Counts requests with a key for usage statistics, and
 * keeps those that were rejected for the project's log.
 */
export const requestLog = (route: NamedRoute): Middleware<unknown, RequestLog> => ({
  before: () => ({ flushing: flushIfDue() }),
  after: endOf(route),
  onError: endOf(route),
});

export type Endpoint<Added> = Pick<Stack<Added>, 'handler'>;

export type Of<A extends Route['access']> = NamedRoute & { readonly access: A };

export const pathOf = (route: NamedRoute) => Stack.of(route).use(requestLog(route)).use(errorEnvelope());

export const publicEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(rateLimit(route)).use(singleHeaders()).use(input(route));
