import { AppError } from '../../core/errors.ts';
import { requestIds } from '../../core/ids.ts';
import { currentRequest } from '../../core/log.ts';
import {
  acquireKey,
  endWithoutResponse,
  type KeyedRequest,
  type KeyState,
  keyedRequest,
  outcomeUnknown,
  parseIdempotencyKey,
  type Run,
  storedResponse,
  storeResponse,
  type WholeAnswer,
} from '../../persistence/idempotency.ts';
import type { Reply } from '../reply.ts';
import { isRead, type Route } from '../route.ts';
import type { Event, Middleware } from '../stack.ts';
import type { Keyed } from './api-key.ts';
import type { WithAccess } from './collection.ts';
import type { AnswerHeaders } from './error-envelope.ts';

/** Absent if the request has no key. */
interface WithRun {
  readonly run?: Run;
}

/** Thrown instead of running the handler; contains the stored response. */
class Repeated extends Error {
  override readonly name = 'Repeated';
  readonly answer: WholeAnswer;

  constructor(answer: WholeAnswer) {
    super('This request was answered before');
    this.answer = answer;
  }
}

const underWay = (): AppError =>
  new AppError(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first request with this Idempotency-Key is still running. Try again in a second with the same key.',
    { retryAfter: 1 },
  );

const taken = (): AppError =>
  new AppError(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used in the last 24 hours for another request: method, address, body, If-Match or If-None-Match differ. Use a new key for each request.',
  );

type Known = Keyed & Partial<WithAccess>;

/** The secret key is one caller, even after a rotation. So is each user, and the publishable key without a user. */
const callerOf = ({ keyKind, visit }: Known): string => {
  if (keyKind === 'secret') return 'secret';
  const userId = visit?.caller.userId;
  return userId === undefined ? 'publishable' : `user ${userId}`;
};

const requestOf = (key: string, event: Event, known: Known): KeyedRequest => {
  const { headers, body = '', isBase64Encoded, rawPath, rawQueryString, requestContext } = event;
  const { method } = requestContext.http;
  // On other methods the header does not change what a write does.
  const condition = method === 'PUT' ? headers['if-none-match'] : undefined;
  return keyedRequest(callerOf(known), key, [
    method,
    rawPath,
    rawQueryString,
    headers['if-match'] ?? '',
    isBase64Encoded ? Buffer.from(body, 'base64') : body,
    ...(condition === undefined ? [] : [condition]),
  ]);
};

const runOf = async (state: KeyState): Promise<Run> => {
  switch (state.kind) {
    case 'mine':
      return state.run;
    case 'answered': {
      const answer = await storedResponse(state.answer);
      throw answer ? new Repeated(answer) : outcomeUnknown();
    }
    case 'under way':
      throw underWay();
    case 'unknown':
      throw outcomeUnknown();
    case 'taken':
      throw taken();
  }
};

const begin = async (key: string, event: Event, known: Known, canRepeat: boolean): Promise<WithRun> => {
  const run = await runOf(await acquireKey(known.project.id, requestOf(key, event, known), canRepeat));
  const record = currentRequest.getStore();
  if (record) record.ids = requestIds(run.seed, run.begunAt, run.isRepeat);
  return { run };
};

/**
 * Runs a request with an `Idempotency-Key` once in 24 hours. A repeat gets the stored response; another request with
 * the same key → 409 `IDEMPOTENCY_KEY_REUSED`; while the first is running → 409 `IDEMPOTENCY_IN_PROGRESS`. If the first
 * ended without a response, a route that repeats `by id` runs again with the same ids; others → 409
 * `IDEMPOTENCY_OUTCOME_UNKNOWN`.
 */
export const once = ({ repeats }: Route): Middleware<Known, WithRun> => ({
  before: ({ event, context }) => {
    const key = parseIdempotencyKey(event.headers['idempotency-key']);
    return key === undefined ? {} : begin(key, event, context, repeats === 'by id');
  },
  onError: (request) => {
    if (!(request.error instanceof Repeated)) return;
    const { headers, ...answer } = request.error.answer;
    request.response = { ...answer, headers: { ...headers, 'idempotent-replayed': 'true' } };
  },
});

/** Rejects a malformed key on reads that have a body. GET requests are not checked. */
export const checkedKey = (route: Route): Middleware<unknown, void> => ({
  before: ({ event }) => {
    if (!isRead(route)) parseIdempotencyKey(event.headers['idempotency-key']);
  },
});

/** After these errors nothing was written, so the key can be used again. */
const withoutEffect = new Set<string | undefined>(['TOO_MANY_WRITERS', 'NOT_SET_UP']);

interface Ended {
  readonly context: WithRun & Partial<AnswerHeaders>;
  readonly response?: Reply | null | undefined;
}

const keep = async ({ context: { run, answerHeaders = {} }, response }: Ended): Promise<void> => {
  if (!run || !response) return;
  const { statusCode, headers, body } = response;
  if (statusCode >= 500) {
    await endWithoutResponse(run, withoutEffect.has(currentRequest.getStore()?.code));
    return;
  }
  // The request id and the rate-limit headers belong to each request, not to the stored response.
  const own = Object.entries(headers).filter(([name]) => !Object.hasOwn(answerHeaders, name));
  await storeResponse(run, { statusCode, headers: Object.fromEntries(own), body });
};

/** Stores the response of a run of `once`. It comes before the error envelope, so it sees the final response. */
export const storedResponses = (): Middleware<unknown, Ended['context']> => ({
  before: () => ({}),
  after: keep,
  onError: keep,
});
