import { clock } from '../../core/clock.ts';
import { rateLimits } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { log } from '../../core/log.ts';
import { currentRequest } from '../../core/request.ts';
import {
  blockOf,
  countRequest,
  knownOverLimit,
  OverLimit,
  type RateLimitState,
  type RateWindow,
} from '../../rate-limit/rate-limit.ts';
import { isRead, type Route } from '../route.ts';
import { type Middleware, type Start, sourceAddress } from '../stack.ts';
import type { AnswerHeaders } from './error-envelope.ts';

/** None if this limit, or that of all requests, is 0. */
export const windowOf = (name: RateWindow['name'], limit: number): readonly RateWindow[] => {
  const { RATE_LIMIT, RATE_BLOCK } = rateLimits();
  return RATE_LIMIT === 0 || limit === 0 ? [] : [{ name, limit, block: blockOf(limit, RATE_BLOCK) }];
};

export const windowsOf = (route: Route): readonly RateWindow[] => {
  const { RATE_LIMIT, AUTH_RATE_LIMIT, CREDENTIAL_RATE_LIMIT } = rateLimits();
  const narrow = route.path.startsWith('/api/auth/') ? 'dashboard' : 'credential';
  return [
    ...windowOf('all', RATE_LIMIT),
    ...(route.path.startsWith('/api/userAuth') ? windowOf('auth', AUTH_RATE_LIMIT) : []),
    ...(route.credential ? windowOf(narrow, CREDENTIAL_RATE_LIMIT) : []),
  ];
};

const headers = ({ limit, remaining, reset }: RateLimitState): Record<string, string> => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(reset),
});

const showState = ({ answerHeaders }: AnswerHeaders, state: RateLimitState): void => {
  Object.assign(answerHeaders, headers(state));
};

export const requireWithinLimit = (context: AnswerHeaders, { state, refusal }: OverLimit): never => {
  showState(context, state);
  throw refusal;
};

/** After a failed count, reads are not counted until this time (ms). */
let uncountedUntil = 0;
const pauseMs = 3000;

/** Counts a request or rejects it. With `reads`, it continues if the table does not respond. */
export const consume = async (
  context: AnswerHeaders,
  source: string,
  windows: readonly RateWindow[],
  reads: boolean,
): Promise<void> => {
  if (windows.length === 0 || (reads && clock.now() < uncountedUntil)) return;
  if (reads && uncountedUntil > 0) uncountedUntil = clock.now() + pauseMs;
  try {
    showState(context, await countRequest(source, windows));
    uncountedUntil = 0;
  } catch (error) {
    if (error instanceof OverLimit) {
      uncountedUntil = 0;
      requireWithinLimit(context, error);
    }
    if (!reads || !(error instanceof AppError)) throw error;
    uncountedUntil = clock.now() + pauseMs;
    log.warn({ message: 'Requests continue uncounted: the table does not respond' });
  }
};

interface WithCount {
  readonly counting?: Promise<void>;
}

/**
 * Counts the request; 429 if a limit is exceeded. If the table is unavailable, reads continue uncounted. All others get
 * 503, so that nobody can guess passwords uncounted. `beside` starts work in parallel, except for a source known to be
 * over its limit. With `withholds`, a read runs in parallel with the counter and its response waits for the counter.
 */
export const rateLimitBeside = <Added>(
  route: Route,
  beside: Start<Added>,
  withholds = false,
): Middleware<AnswerHeaders, Added & WithCount> => {
  const reads = isRead(route) && !route.credential;
  let windows: readonly RateWindow[] | undefined;
  return {
    before: async ({ event, context }) => {
      windows ??= windowsOf(route);
      const source = sourceAddress(event);
      const known = knownOverLimit(source, windows);
      if (known) requireWithinLimit(context, known);
      const added = beside(event);
      const counting = consume(context, source, windows, reads);
      // Awaited now or at the end; a rejection must not end the process meanwhile.
      counting.catch(() => undefined);
      if (!(reads && withholds)) await counting;
      return { ...added, counting };
    },
    after: ({ context }) => context.counting,
    onError: async (request) => {
      try {
        await request.context.counting;
      } catch (error) {
        // A rejected request is not attributed to a project, as when the counter comes first.
        Object.assign(request.context, { project: undefined });
        Object.assign(currentRequest.getStore() ?? {}, { projectId: undefined });
        request.error = error as Error;
      }
    },
  };
};

export const rateLimit = (route: Route): Middleware<AnswerHeaders, void> =>
  rateLimitBeside<void>(route, () => undefined);
