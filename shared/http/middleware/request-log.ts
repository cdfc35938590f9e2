import { currentRequest, log } from '../../core/log.ts';
import type { Project } from '../../projects/project.ts';
import { countUsage, flushTallyIfDue } from '../../usage/tally.ts';
import type { Middleware } from '../stack.ts';

/** Added by `requestLog`. */
interface RequestLog {
  /** Pending write of earlier counts, which runs in parallel with this request. */
  readonly flushing: Promise<void> | undefined;
  /** Whose key came with the request, once `apiKey` knows it. */
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
 * One JSON line a request: route, project, status, the code of a failure, ms, database ms, request id. Never bodies,
 * keys or tokens. Requests that came with a project's key are counted for its usage too.
 */
export const requestLog = (): Middleware<unknown, RequestLog> => ({
  before: () => ({ flushing: flushTallyIfDue() }),
  after: end,
  onError: end,
});
