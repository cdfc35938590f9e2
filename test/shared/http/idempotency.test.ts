import { beforeEach, describe, expect, test, vi } from 'vitest';
import { dataRoutes } from '../../../functions/data/routes.ts';
import { AppError, statusOf } from '../../../shared/core/errors.ts';
import { newId } from '../../../shared/core/ids.ts';
import { currentRequest, type RequestRecord } from '../../../shared/core/request.ts';
import { checkedKey, once, storedResponses } from '../../../shared/http/middleware/idempotency.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import type { Route } from '../../../shared/http/route.ts';
import { JsonClient, SignedClient } from '../../../shared/persistence/aws-client.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';
import { projectWithKey } from '../accounts/project.ts';

useMemoryTable();
let project: Project;
/** Texts in the bucket. */
const objects = new Map<string, string>();

beforeEach(async () => {
  project = await projectWithKey('a'.repeat(24));
  objects.clear();
  vi.stubEnv('FILES_URL', 'https://files.example.com');
  vi.spyOn(SignedClient.prototype, 'request').mockImplementation(async ({ path = '', method, body, parse }) => {
    if (method === 'PUT') objects.set(path, String(body));
    return parse(objects.get(path) ?? '');
  });
});

const { create, list } = { create: dataRoutes['create-document'], list: dataRoutes['list-documents'] } as Record<
  'create' | 'list',
  Route
>;
const route = (rest: Partial<Route> = {}): Route => ({ ...create, repeats: 'by id', ...rest }) as Route;
const reissued = route({ repeats: 'reissued' });
const opening = route({ repeats: 'reissued', credential: true });

interface Sent {
  readonly key?: string | undefined;
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly body?: string | undefined;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly known?: object;
}

/** What a request gets: its response, and the ids that it stores. */
interface Result {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly id: string;
  readonly wasRun: boolean;
}

const response = (statusCode = 201, body = 'made', headers: Record<string, string> = {}): Reply => ({
  statusCode,
  headers: { 'content-type': 'x', ...headers },
  body,
});

/** Sends a request through the middlewares around a handler that returns `reply`, or an error with its code. */
const send = (
  of: Route,
  { key = 'k'.repeat(22), method = 'POST', path = '/a', query = '', body = '{"a":1}', ...sent }: Sent = {},
  reply: Reply | Error | (() => Promise<Reply>) = response(),
): Promise<Result> => {
  const record: RequestRecord = { requestId: 'r', route: 'any', databaseMs: 0 };
  return currentRequest.run(record, async () => {
    const headers = { ...(key !== '' && { 'idempotency-key': key }), ...sent.headers };
    const requestContext = { http: { method } };
    const event = {
      ...{ headers, rawPath: path, rawQueryString: query, requestContext, body },
      isBase64Encoded: sent.isBase64Encoded ?? false,
    };
    const context: Record<string, unknown> = {
      ...{ project, keyKind: 'secret', answerHeaders: { 'ratelimit-limit': '5' } },
      ...sent.known,
    };
    const request = { event, context, response: null, error: null } as never as {
      context: Record<string, unknown>;
      response: Reply | null;
      error: Error | null;
    };
    const [first, keeping] = [once(of), storedResponses(of)];
    let wasRun = false;
    let id = '';
    try {
      Object.assign(request.context, await first.before?.(request as never));
      wasRun = true;
      id = newId().toHexString();
      if (reply instanceof Error) throw reply;
      const made = typeof reply === 'function' ? await reply() : reply;
      request.response = { ...made, headers: { 'ratelimit-limit': '5', ...made.headers } };
      await first.after?.(request as never);
      await keeping.after?.(request as never);
    } catch (error) {
      request.error = error as Error;
      await first.onError?.(request as never);
      if (!request.response) {
        const known = error instanceof AppError ? error : undefined;
        record.code = known?.code ?? 'INTERNAL_ERROR';
        request.response = response(known ? statusOf[known.code] : 500, record.code);
      }
      await keeping.onError?.(request as never);
    }
    const { statusCode, body: text, headers: own } = request.response ?? response(0);
    return { statusCode, body: text, headers: own, id, wasRun };
  });
};

const isReplayed = ({ headers }: Result): boolean => headers['idempotent-replayed'] === 'true';

describe('a request with an Idempotency-Key', () => {
  test('runs one time, and a repeat gets its response without the headers of each request', async () => {
    const first = await send(route());
    expect([first.wasRun, isReplayed(first)]).toEqual([true, false]);
    const again = await send(route(), {}, response(200, 'other'));
    expect(again).toMatchObject({ wasRun: false, statusCode: 201, body: 'made' });
    expect(again.headers).toEqual({ 'content-type': 'x', 'idempotent-replayed': 'true' });
  });

  test('without a key runs each time, with new ids', async () => {
    const [first, second] = [await send(route(), { key: '' }), await send(route(), { key: '' })];
    expect([first.wasRun, second.wasRun, first.id === second.id]).toEqual([true, true, false]);
  });

  test('400 VALIDATION_FAILED for a malformed key', async () => {
    expect(await send(route(), { key: 'a b' })).toMatchObject({ body: 'VALIDATION_FAILED', wasRun: false });
    expect(await send(opening, { key: 'a'.repeat(21) })).toMatchObject({ body: 'VALIDATION_FAILED', wasRun: false });
  });

  test.each<[string, Sent, Sent]>([
    ['another method', {}, { method: 'PUT' }],
    ['another path', {}, { path: '/b' }],
    ['another query', {}, { query: 'a=1' }],
    ['another body', {}, { body: '{"a":2}' }],
    ['another If-Match', {}, { headers: { 'if-match': '"1"' } }],
    ['another If-None-Match of PUT', { method: 'PUT' }, { method: 'PUT', headers: { 'if-none-match': '*' } }],
    ['bytes that are no text', { body: '/w==', isBase64Encoded: true }, { body: '/g==', isBase64Encoded: true }],
    ['no body', { body: '' }, { body: '{}' }],
  ])('409 IDEMPOTENCY_KEY_REUSED for %s', async (_, first, second) => {
    await send(route(), first);
    expect(await send(route(), second)).toMatchObject({ body: 'IDEMPOTENCY_KEY_REUSED', wasRun: false });
  });

  test.each<[string, Route, Sent, Sent]>([
    ['the order of fields', route(), { body: '{"a":1,"b":2}' }, { body: ' {"b":2,"a":1}' }],
    ['base64', route(), { body: '{"a":1}' }, { body: btoa('{"a": 1}'), isBase64Encoded: true }],
    ['If-None-Match of POST', route(), {}, { headers: { 'if-none-match': '*' } }],
    ['an empty object instead of no body', route({ body: undefined } as never), { body: ' ' }, { body: '{}' }],
    ['an empty If-Match', route(), {}, { headers: { 'if-match': '' } }],
  ])('is the same with %s', async (_, of, first, second) => {
    await send(of, first);
    expect(isReplayed(await send(of, second))).toBe(true);
  });

  test('with a body is another request, also if the route takes no body', async () => {
    const none = route({ body: undefined } as never);
    await send(none, { body: '' });
    expect(await send(none, { body: '{"a":1}' })).toMatchObject({ body: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('is of one caller: the secret key, each user, and the publishable key', async () => {
    const publishable = { keyKind: 'publishable' };
    const callers: object[] = [
      { keyKind: 'secret', caller: { kind: 'secret', userId: 'ann' } },
      { ...publishable, caller: { kind: 'publishable', userId: 'ann' } },
      { ...publishable, access: { caller: { kind: 'publishable', userId: 'bob' } } },
      publishable,
    ];
    for (const known of callers) expect(isReplayed(await send(route(), { known }))).toBe(false);
    for (const known of callers) expect(isReplayed(await send(route(), { known }))).toBe(true);
    expect(isReplayed(await send(route(), { known: { keyKind: 'secret' } }))).toBe(true);
  });

  test('of the caller of one key is not the request of another key whose name is the caller', async () => {
    await send(route(), { key: 'secret', known: { keyKind: 'publishable' } });
    expect((await send(route(), { key: 'publishable', known: { keyKind: 'secret' } })).wasRun).toBe(true);
  });

  test('409 IDEMPOTENCY_IN_PROGRESS while the first runs', async () => {
    let inner: Result | undefined;
    await send(route(), {}, async () => {
      inner = await send(route());
      return response();
    });
    expect(inner).toMatchObject({ body: 'IDEMPOTENCY_IN_PROGRESS', wasRun: false });
  });
});

describe('a request that failed', () => {
  const down = new AppError('SERVICE_UNAVAILABLE', 'down');

  test.each<[string, Reply | Error, boolean]>([
    ['500', new TypeError('broken'), true],
    ['503', down, true],
    ['429', new AppError('RATE_LIMITED', 'later'), true],
    ['409 before the file arrived', new AppError('UPLOAD_NOT_READY', 'later'), true],
    ['400', new AppError('VALIDATION_FAILED', 'no'), false],
    ['404', response(404, 'NOT_FOUND'), false],
    ['499', response(499, 'odd'), false],
    ['500 as a response', response(500, 'odd'), true],
  ])('with %s runs again: %#', async (_, reply, runs) => {
    const first = await send(route(), {}, reply);
    const second = await send(route());
    expect([second.wasRun, isReplayed(second)]).toEqual([runs, !runs]);
    if (!runs) expect(second).toMatchObject({ statusCode: first.statusCode, body: first.body });
  });

  test('without a response runs again with the same ids, and with new ones if nothing was done', async () => {
    const first = await send(route(), {}, down);
    const second = await send(route(), {}, new AppError('RATE_LIMITED', 'later'));
    expect(second.id).toBe(first.id);
    expect((await send(route(), {}, down)).id).toBe(first.id);
    const none = await send(route(), { key: 'n' }, new AppError('RATE_LIMITED', 'later'));
    expect((await send(route(), { key: 'n' })).id).not.toBe(none.id);
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN on a route that cannot repeat it', async () => {
    const of = route({ repeats: 'unknown' });
    await send(of, {}, down);
    expect(await send(of)).toMatchObject({ body: 'IDEMPOTENCY_OUTCOME_UNKNOWN', wasRun: false });
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN when the stored response is gone from the bucket', async () => {
    const long = 'x'.repeat(400_000);
    await send(route(), {}, response(201, long));
    expect(objects.size).toBe(1);
    expect(await send(route())).toMatchObject({ body: long });
    vi.mocked(SignedClient.prototype.request).mockResolvedValue(undefined as never);
    expect(await send(route())).toMatchObject({ body: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
  });
});

describe('a route whose responses contain secrets', () => {
  test.each([201, 399])(
    'with %i runs again for each repeat, with the same ids, and stores no response',
    async (status) => {
      const first = await send(reissued, {}, response(status, 'secret one'));
      const second = await send(reissued, {}, response(status, 'secret two'));
      expect([second.wasRun, second.id === first.id, isReplayed(second)]).toEqual([true, true, true]);
      expect(second).toMatchObject({ body: 'secret two' });
      expect(isReplayed(first)).toBe(false);
      const sent = vi.mocked(JsonClient.prototype.send).mock.calls;
      expect(JSON.stringify(sent)).not.toContain('secret one');
    },
  );

  test('with an error stores the response', async () => {
    await send(reissued, {}, response(400, 'no'));
    expect(await send(reissued)).toMatchObject({ statusCode: 400, body: 'no', wasRun: false });
  });

  test('that repeats stores nothing over the first response', async () => {
    await send(reissued);
    await send(reissued, {}, new AppError('SERVICE_UNAVAILABLE', 'down'));
    const third = await send(reissued);
    expect([third.wasRun, isReplayed(third)]).toEqual([true, true]);
    await send(reissued, {}, response(400, 'no'));
    expect(await send(reissued)).toMatchObject({ wasRun: true, statusCode: 201 });
  });

  test('and opens a session is recognized by a digest with a key', async () => {
    await send(opening);
    expect(isReplayed(await send(reissued))).toBe(false);
    expect(isReplayed(await send(opening))).toBe(true);
  });
});

test('400 VALIDATION_FAILED for a malformed key of a write, but not of a GET', () => {
  const check = (of: Route) => () =>
    checkedKey(of).before?.({ event: { headers: { 'idempotency-key': 'a b' } } } as never);
  expect(check(route())).toThrow(AppError);
  expect(check(list)).not.toThrow();
});

test('without a response, a run or a request, nothing is stored and nothing fails', async () => {
  const run = { isAnswered: true };
  for (const context of [{ run }, { run: { isAnswered: false } }, {}]) {
    await storedResponses(route()).after?.({ context, response: null } as never);
    await once(route()).after?.({ context, response: null } as never);
  }
  await storedResponses(route()).after?.({ context: {}, response: response() } as never);
  expect(JsonClient.prototype.send).not.toHaveBeenCalled();
  const event = {
    ...{ headers: { 'idempotency-key': 'k' }, rawPath: '/a', rawQueryString: '', body: '' },
    requestContext: { http: { method: 'POST' } },
  };
  const begun = await once(route()).before?.({ event, context: { project, keyKind: 'secret' } } as never);
  // The first refresh token of a sign-up is derived from the key.
  expect(begun).toMatchObject({ run: { isRepeat: false, request: { key: 'k' } } });
});
