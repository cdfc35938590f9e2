import { currentRequest, log } from '../../log.ts';
import type { Adds } from './adds.ts';

/** One JSON line a request: route, project, status, ms, database ms, request id. Never bodies, keys or tokens. */
export const requestLog = (): Adds<{ startedAt: number }> => {
  const write = ({
    context,
    response,
  }: {
    context: { startedAt?: number };
    response?: { statusCode: number } | null;
  }) => {
    const record = currentRequest.getStore();
    if (!record) return;
    log.info({
      route: record.route,
      project: record.projectId,
      status: response?.statusCode,
      ms: Math.round((performance.now() - (context.startedAt ?? 0)) * 10) / 10,
      databaseMs: Math.round(record.databaseMs * 10) / 10,
      requestId: record.requestId,
    });
  };
  return {
    before: ({ context }) => {
      context.startedAt = performance.now();
    },
    after: (request) => write(request as Parameters<typeof write>[0]),
    onError: (request) => write(request as Parameters<typeof write>[0]),
  };
};
