import { currentRequest, log } from '../../core/log.ts';
import type { Project } from '../../projects/project.ts';
import { countUsage, flushTallyIfDue } from '../../usage/tally.ts';
import type { Middleware } from '../stack.ts';

interface RequestLog {
  /** The write of earlier counts, in parallel with this request. */
  readonly flushing: Promise<void> | undefined;
  /** Set by `apiKey`. */
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
