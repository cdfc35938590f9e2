import { clock } from '../../core/clock.ts';
import { rateLimits } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { currentRequest, log } from '../../core/log.ts';
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

/** A window; none while all limits are off. */
export const windowOf = (name: RateWindow['name'], limit: number): readonly RateWindow[] => {
  const { RATE_LIMIT, RATE_BLOCK } = rateLimits();
  return RATE_LIMIT === 0 ? [] : [{ name, limit, block: blockOf(limit, RATE_BLOCK) }];
};

/** Which windows a route counts in (contract 1, "Rate limits"). */
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

/** Has the answer tell how the tightest window stands. */
const showStanding = ({ answerHeaders }: AnswerHeaders, standing: RateLimitState): void => {
  Object.assign(answerHeaders, headers(standing));
};

/** 429 `RATE_LIMITED`, with how the window stands. */
export const requireWithinLimit = (context: AnswerHeaders, { standing, refusal }: OverLimit): never => {
  showStanding(context, standing);
  throw refusal;
};

/** Until then, after a failed count, reads are not counted; the first one after it tries the table again. */
let uncountedUntil = 0;
const pauseMs = 3000;

/** Counts a request of these windows, or refuses it; `reads` may go on where the table does not answer. */
export const consume = async (
  context: AnswerHeaders,
  source: string,
  windows: readonly RateWindow[],
  reads: boolean,
): Promise<void> => {
  if (windows.length === 0 || (reads && clock.now() < uncountedUntil)) return;
  if (reads && uncountedUntil > 0) uncountedUntil = clock.now() + pauseMs;
  try {
    showStanding(context, await countRequest(source, windows));
    uncountedUntil = 0;
  } catch (error) {
    if (error instanceof OverLimit) {
      uncountedUntil = 0;
      requireWithinLimit(context, error);
    }
    if (!reads || !(error instanceof AppError)) throw error;
    uncountedUntil = clock.now() + pauseMs;
    log.warn({ message: 'Requests go on uncounted: the table does not answer' });
  }
};

/** Added where an answer is withheld. */
interface WithCount {
  /** Rejects with the refusal over a limit. */
  readonly counting?: Promise<void>;
}

/**
 * Counts the request and refuses it over a limit. If the table is unavailable, reads go on uncounted; everything else
 * is 503, credential routes above all, so that nobody can guess passwords uncounted. `beside` starts work that runs in
 * parallel with the count; it is skipped for a source known to be over its limit.
 *
 * Of a read that `withholds`, everything runs beside the count, and what it answers or fails with waits until the count
 * lets it go. A source over its limit has that done once by each process, which knows it from then on.
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
      // Whether it is awaited now or at the end, its refusal must not end the process.
      counting.catch(() => undefined);
      if (!(reads && withholds)) await counting;
      return { ...added, counting };
    },
    after: ({ context }) => context.counting,
    onError: async (request) => {
      try {
        await request.context.counting;
      } catch (error) {
        // Refused requests are nobody's, as they are where the count comes first.
        Object.assign(request.context, { project: undefined });
        Object.assign(currentRequest.getStore() ?? {}, { projectId: undefined });
        request.error = error as Error;
      }
    },
  };
};

/** The same where nothing else can begin meanwhile. */
export const rateLimit = (route: Route): Middleware<AnswerHeaders, void> =>
  rateLimitBeside<void>(route, () => undefined);
