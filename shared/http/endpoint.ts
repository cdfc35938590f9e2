import { log } from '../core/log.ts';
import { currentRequest } from '../core/request.ts';
import type { Project } from '../projects/project.ts';
import { countUsage, flushTallyIfDue } from '../usage/tally.ts';
import { errorEnvelope } from './middleware/error-envelope.ts';
import { input, singleHeaders } from './middleware/input.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import type { NamedRoute, Route } from './route.ts';
import { type Middleware, Stack } from './stack.ts';

interface RequestLog {
  /** The write of earlier counts, in parallel with this request. */
  readonly flushing: Promise<void> | undefined;
  readonly project?: Project;
}

interface Ended {
  readonly context: Partial<RequestLog>;
  readonly response?: { readonly statusCode: number } | null | undefined;
}

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

const end = async ({ context, response }: Ended): Promise<void> => {
  const record = currentRequest.getStore();
  if (!record) return;
  const { route, projectId, requestId, startedAt = performance.now(), code, databaseMs } = record;
  const status = response?.statusCode ?? 500;
  const ms = performance.now() - startedAt;
  log.info({ route, project: projectId, status, code, ms: tenths(ms), databaseMs: tenths(databaseMs), requestId });
  if (context.project) countUsage({ projectId: context.project.id, route, status, ms });
  await context.flushing;
};

/**
 * Logs one JSON line per request, without bodies, keys or tokens, and counts requests with a key for usage statistics.
 */
export const requestLog = (): Middleware<unknown, RequestLog> => ({
  before: () => ({ flushing: flushTallyIfDue() }),
  after: end,
  onError: end,
});

export type Endpoint<Added> = Pick<Stack<Added>, 'handler'>;

export type Of<A extends Route['access']> = NamedRoute & { readonly access: A };

export const pathOf = (route: NamedRoute) => Stack.of(route).use(requestLog()).use(errorEnvelope());

export const publicEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(rateLimit(route)).use(singleHeaders()).use(input(route));
