import { isUtf8 } from 'node:buffer';
import { AppError, type ErrorCode } from '../../core/errors.ts';
import { requestIds } from '../../core/ids.ts';
import { comparableJson } from '../../core/json.ts';
import { currentRequest } from '../../core/request.ts';
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
import type { Caller } from '../../projects/project.ts';
import { derivedKey } from '../../projects/sealed.ts';
import type { Reply } from '../reply.ts';
import { isRead, minKeyLength, opensSession, type Route } from '../route.ts';
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
    super('This request has a stored response');
    this.answer = answer;
  }
}

const underWay = (): AppError =>
  new AppError(
    'IDEMPOTENCY_IN_PROGRESS',
    'The first request with this Idempotency-Key is still running. Retry in a second with the same key.',
    { retryAfter: 1 },
  );

const taken = (): AppError =>
  new AppError(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used in the last 24 hours for another request: method, address, body, If-Match or If-None-Match differ. Use a new key for each request.',
  );

/** `caller` is that of a route of files. */
type Known = Keyed & Partial<WithAccess> & { readonly caller?: Caller };

/** The secret key is one caller, even after a rotation. So is each user, and the publishable key without a user. */
const callerOf = ({ keyKind, access, caller = access?.caller }: Known): string => {
  if (keyKind === 'secret') return 'secret';
  return caller?.userId === undefined ? 'publishable' : `user ${caller.userId}`;
};

/** Bodies are compared as JSON. To a route that takes none, an empty object is the same as no body. */
const bodyOf = ({ body = '', isBase64Encoded }: Event, route: Route): string | Uint8Array => {
  const bytes = isBase64Encoded ? Buffer.from(body, 'base64') : undefined;
  if (bytes && !isUtf8(bytes)) return bytes;
  const text = bytes?.toString() ?? body;
  return comparableJson(text.trim() === '' && !route.body ? '{}' : text);
};

const requestOf = async (key: string, event: Event, known: Known, route: Route): Promise<KeyedRequest> => {
  const { headers, rawPath, rawQueryString, requestContext } = event;
  const { method } = requestContext.http;
  // On other methods the header does not change what a write does.
  const condition = method === 'PUT' ? headers['if-none-match'] : undefined;
  const parts = [
    method,
    rawPath,
    rawQueryString,
    headers['if-match'] ?? '',
    bodyOf(event, route),
    ...(condition === undefined ? [] : [condition]),
  ];
  return keyedRequest(callerOf(known), key, parts, opensSession(route) ? await derivedKey('repeats') : undefined);
};

const isSuccess = (status: number): boolean => status < 400;

const runOf = async (state: KeyState, { repeats }: Route): Promise<Run> => {
  switch (state.kind) {
    case 'acquired':
      return state.run;
    case 'answered': {
      if (repeats === 'reissued' && isSuccess(state.answer.status)) return state.run;
      const answer = await storedResponse(state.answer);
      throw answer ? new Repeated(answer) : outcomeUnknown();
    }
    case 'in_progress':
      throw underWay();
    case 'unknown':
      throw outcomeUnknown();
    case 'mismatch':
      throw taken();
  }
};

const begin = async (key: string, event: Event, known: Known, route: Route): Promise<WithRun> => {
  const request = await requestOf(key, event, known, route);
  const run = await runOf(await acquireKey(known.project.id, request, route.repeats !== 'unknown'), route);
  const record = currentRequest.getStore();
  if (record) record.ids = requestIds(run.seed, run.begunAt, run.isRepeat);
  return { run };
};

/**
 * Runs a request with an `Idempotency-Key` once in 24 hours. A repeat gets the stored response; another request with
 * the same key → 409 `IDEMPOTENCY_KEY_REUSED`; while the first is running → 409 `IDEMPOTENCY_IN_PROGRESS`. If the first
 * ended without a response, a route that repeats `by id` runs again with the same ids; others → 409
 * `IDEMPOTENCY_OUTCOME_UNKNOWN`. A route whose responses are `reissued` runs again for each repeat.
 */
export const once = (route: Route): Middleware<Known, WithRun> => ({
  before: ({ event, context }) => {
    const key = parseIdempotencyKey(event.headers['idempotency-key'], minKeyLength(route));
    return key === undefined ? {} : begin(key, event, context, route);
  },
  after: ({ context: { run }, response }) => {
    if (run?.isAnswered && response) response.headers['idempotent-replayed'] = 'true';
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
const withoutEffect = new Set<string | undefined>([
  'TOO_MANY_WRITERS',
  'NOT_SET_UP',
  'UPLOAD_NOT_READY',
  'RATE_LIMITED',
] satisfies ErrorCode[]);

interface Ended {
  readonly context: WithRun & Partial<AnswerHeaders>;
  readonly response?: Reply | null | undefined;
}

const keep = async ({ context: { run, answerHeaders = {} }, response }: Ended, { repeats }: Route): Promise<void> => {
  if (!run || run.isAnswered || !response) return;
  const { statusCode, headers, body } = response;
  const { code } = currentRequest.getStore() ?? {};
  if (statusCode >= 500 || withoutEffect.has(code)) {
    // What an earlier run has done is not known, so a repeat needs its ids.
    await endWithoutResponse(run, !run.isRepeat && withoutEffect.has(code));
  } else if (repeats === 'reissued' && isSuccess(statusCode)) {
    await storeResponse(run, { statusCode, headers: {}, body: '' });
  } else {
    // The request id and the rate-limit headers belong to each request, not to the stored response.
    const own = Object.entries(headers).filter(([name]) => !Object.hasOwn(answerHeaders, name));
    await storeResponse(run, { statusCode, headers: Object.fromEntries(own), body });
  }
};

/** Stores the response of a run of `once`. It comes before the error envelope, so it sees the final response. */
export const storedResponses = (route: Route): Middleware<unknown, Ended['context']> => ({
  before: () => ({}),
  after: (ended) => keep(ended, route),
  onError: (ended) => keep(ended, route),
});
