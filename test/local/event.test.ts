import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, type RawRequest, send, startGateway } from '../support/clients/local-gateway.ts';

let gateway: Gateway;
let seen: Record<string, unknown>;

beforeAll(async () => {
  gateway = await startGateway(async (event) => {
    seen = JSON.parse(JSON.stringify(event)) as Record<string, unknown>;
    return { statusCode: 200 };
  });
});
afterAll(() => gateway.close());

const post = (contentType: string | undefined, body: string | Buffer): RawRequest => ({
  method: 'POST',
  path: '/items',
  headers: contentType === undefined ? [] : ['Content-Type', contentType],
  body,
});

const base64 = (body: string | Buffer): string => Buffer.from(body).toString('base64');

const cases: readonly [title: string, request: RawRequest, event: object][] = [
  ['path and route', { path: '/items/7' }, { rawPath: '/items/7', routeKey: 'GET /items/{id}', version: '2.0' }],
  ['path parameters are decoded', { path: '/items/a%20b' }, { rawPath: '/items/a b', pathParameters: { id: 'a b' } }],
  ['no query', {}, { rawQueryString: '' }],
  ['the query as sent', { path: '/items/1?a=%31&b' }, { rawQueryString: 'a=%31&b' }],
  [
    'query parameters are decoded, repeated ones joined',
    { path: '/items/1?a=1&a=%32&b=x+y&c=%C3%A9' },
    { queryStringParameters: { a: '1,2', b: 'x y', c: 'é' } },
  ],
  ['a broken escape in the query stays', { path: '/items/1?a=%zz' }, { queryStringParameters: { a: '%zz' } }],
  ['a second question mark belongs to the query', { path: '/items/1?a=b?c' }, { queryStringParameters: { a: 'b?c' } }],
  ['header names in lower case', { headers: ['X-Api-Key', 'k'] }, { headers: { 'x-api-key': 'k' } }],
  ['repeated headers joined', { headers: ['x-a', '1', 'X-A', '2'] }, { headers: { 'x-a': '1,2' } }],
  [
    'cookies apart from the headers',
    { headers: ['Cookie', 'a=1; b=2', 'x-a', '1'] },
    { cookies: ['a=1', 'b=2'], headers: { 'x-a': '1' } },
  ],
  ['JSON as text', post('application/json', '{"é":1}'), { body: '{"é":1}', isBase64Encoded: false }],
  ['JSON with a charset as text', post('application/json; charset=utf-8', '1'), { body: '1', isBase64Encoded: false }],
  ['other JSON as text', post('application/vnd.api+json', '1'), { body: '1', isBase64Encoded: false }],
  ['plain text as text', post('text/plain', 'x'), { body: 'x', isBase64Encoded: false }],
  ['forms in base64', post('application/x-www-form-urlencoded', '{}'), { body: base64('{}'), isBase64Encoded: true }],
  [
    'bytes in base64',
    post('application/octet-stream', Buffer.from([0, 255])),
    { body: base64(Buffer.from([0, 255])), isBase64Encoded: true },
  ],
  ['no content type in base64', post(undefined, '{}'), { body: base64('{}'), isBase64Encoded: true }],
  [
    'a long body whole',
    post('application/json', `"${'é'.repeat(400_000)}"`),
    { body: `"${'é'.repeat(400_000)}"`, isBase64Encoded: false },
  ],
  ['an unknown path', { method: 'DELETE', path: '/else' }, { routeKey: '$default', rawPath: '/else' }],
];

describe('event contains', () => {
  test.for(cases)('%s', async ([, request, event]) => {
    await send(gateway.port, request);
    expect(seen).toMatchObject(event);
  });

  test('no cookies, parameters or body when the request has none', async () => {
    await send(gateway.port, { path: '/else' });
    for (const name of ['cookies', 'pathParameters', 'queryStringParameters', 'body']) {
      expect(seen).not.toHaveProperty(name);
    }
    expect(seen).not.toHaveProperty('headers.connection');
  });

  test("the socket's address even when X-Forwarded-For is sent", async () => {
    await send(gateway.port, { headers: ['X-Forwarded-For', '203.0.113.9', 'User-Agent', 'agent'] });
    expect(seen).toMatchObject({
      requestContext: { http: { sourceIp: '127.0.0.1', method: 'GET', path: '/items/1', userAgent: 'agent' } },
    });
  });

  test('a unique request id', async () => {
    const ids = new Set<unknown>();
    for (let time = 0; time < 3; time += 1) {
      await send(gateway.port, {});
      ids.add((seen.requestContext as { requestId: string }).requestId);
    }
    expect(ids.size).toBe(3);
  });

  test("the time in API Gateway's format", async () => {
    await send(gateway.port, {});
    expect(seen).toMatchObject({
      requestContext: { time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/) as string },
    });
  });

  test('__proto__ as an ordinary query parameter', async () => {
    await send(gateway.port, { path: '/items/1?__proto__=x' });
    expect(Object.entries(seen.queryStringParameters as object)).toEqual([['__proto__', 'x']]);
  });
});
