import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { FunctionResult } from '../../infra/local/response.ts';
import { type Gateway, type RawRequest, send, startGateway } from '../support/clients/local-gateway.ts';

let gateway: Gateway;
afterEach(() => gateway.close());

const answering = async (result: unknown): Promise<void> => {
  gateway = await startGateway(async () => result as FunctionResult);
};

describe('function result', () => {
  const cases: readonly [title: string, result: unknown, status: number, headers: object, body: string][] = [
    ['goes out as it is', { statusCode: 201, headers: { 'x-a': 'b' }, body: 'é' }, 201, { 'x-a': 'b' }, 'é'],
    [
      'keeps its content type',
      { statusCode: 200, headers: { 'Content-Type': 'a/b' } },
      200,
      { 'content-type': 'a/b' },
      '',
    ],
    ['is text without one', { statusCode: 200, body: 'x' }, 200, { 'content-type': 'text/plain;charset=UTF-8' }, 'x'],
    ['may set cookies', { statusCode: 200, cookies: ['a=1', 'b=2'] }, 200, { 'set-cookie': ['a=1', 'b=2'] }, ''],
    ['may be in base64', { statusCode: 200, body: 'aGk=', isBase64Encoded: true }, 200, {}, 'hi'],
    ['without a status is JSON', { a: 1 }, 200, { 'content-type': 'application/json' }, '{"a":1}'],
    ['may be nothing', undefined, 200, { 'content-type': 'application/json' }, 'null'],
    ['204 has no body', { statusCode: 204 }, 204, {}, ''],
    [
      '500 of header characters',
      { statusCode: 200, headers: { a: 'b\nc' } },
      500,
      {},
      '{"message":"Internal Server Error"}',
    ],
    [
      '500 over what Lambda takes',
      { statusCode: 200, body: 'x'.repeat(6_291_556) },
      500,
      {},
      '{"message":"Internal Server Error"}',
    ],
    [
      '500 over what Lambda takes, which counts the body as a string of JSON',
      { statusCode: 200, body: '"'.repeat(3_200_000) },
      500,
      {},
      '{"message":"Internal Server Error"}',
    ],
  ];
  test("may be as large as Lambda's limit", async () => {
    const result = { statusCode: 200, body: '' };
    const body = 'x'.repeat(6_291_556 - JSON.stringify(result).length);
    await answering({ ...result, body });
    expect((await send(gateway.port, {})).body).toHaveLength(body.length);
  });

  test.for(cases)('%s', async ([, result, status, headers, body]) => {
    await answering(result);
    expect(await send(gateway.port, {})).toMatchObject({ status, headers, body });
  });
});

describe('gateway', () => {
  test('400 when an escape in the path is invalid', async () => {
    await answering({ statusCode: 200 });
    expect(await send(gateway.port, { path: '/items/%zz' })).toMatchObject({
      status: 400,
      body: '{"message":"Bad Request"}',
    });
  });

  test('413 when the body is over 10 MiB, with or without Content-Length', async () => {
    await answering({ statusCode: 200 });
    const body = Buffer.alloc(10 * 2 ** 20 + 1);
    const announced = await send(gateway.port, { method: 'POST', path: '/items', body });
    expect(announced).toMatchObject({ status: 413, body: '{"message":"Request Entity Too Large"}' });
    const stream = ReadableStream.from([body]);
    const response = await fetch(`http://127.0.0.1:${gateway.port}/items`, {
      method: 'POST',
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
  });

  test('200 when the body has 10 MiB', async () => {
    await answering({ statusCode: 200 });
    const body = Buffer.alloc(10 * 2 ** 20);
    expect(await send(gateway.port, { method: 'POST', path: '/items', body })).toMatchObject({ status: 200 });
  });

  test('431 when the headers are over 10 240 bytes', async () => {
    await answering({ statusCode: 200 });
    const big = await send(gateway.port, { headers: ['x-a', 'x'.repeat(10_300)] });
    expect(big).toMatchObject({ status: 431, body: '{"message":"Request Header Fields Too Large"}' });
    expect(await send(gateway.port, { headers: ['x-a', 'x'.repeat(9_000)] })).toMatchObject({ status: 200 });
  });

  test('400 when the request is not HTTP', async () => {
    await answering({ statusCode: 200 });
    const text = await new Promise<string>((resolve, reject) => {
      let all = '';
      const socket = connect(gateway.port, '127.0.0.1', () => socket.write('hello\r\n\r\n'));
      socket.on('data', (chunk: Buffer) => {
        all += chunk.toString();
      });
      socket.on('close', () => resolve(all)).on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('500 when the function throws, which is reported', async () => {
    gateway = await startGateway(async () => {
      throw new Error('secret detail');
    });
    const answer = await send(gateway.port, { headers: ['Origin', 'https://a.example'] });
    expect(answer).toMatchObject({
      status: 500,
      body: '{"message":"Internal Server Error"}',
      headers: { 'access-control-allow-origin': 'https://a.example' },
    });
    expect(gateway.failures).toMatchObject([{ message: 'secret detail' }]);
  });

  test('503 when the function takes too long', async () => {
    gateway = await startGateway(() => new Promise(() => undefined), { timeoutMs: 50 });
    const answer = await send(gateway.port, {});
    expect(answer).toMatchObject({ status: 503, body: '{"message":"Service Unavailable"}' });
    expect(answer.headers).not.toHaveProperty('retry-after');
  });
});

describe('CORS', () => {
  const preflight = (origin: string): RawRequest => ({
    method: 'OPTIONS',
    path: '/anything',
    headers: ['Origin', origin, 'Access-Control-Request-Method', 'POST'],
  });

  test('204 for a preflight without calling a function', async () => {
    let asked = 0;
    gateway = await startGateway(async () => {
      asked += 1;
      return { statusCode: 200 };
    });
    const answer = await send(gateway.port, preflight('https://a.example'));
    expect(answer).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': 'https://a.example',
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'GET,POST',
        'access-control-allow-headers': 'content-type,x-api-key',
        'access-control-max-age': '60',
      },
    });
    expect(asked).toBe(0);
  });

  test.for(['https://a.example', 'http://localhost:5173', 'http://127.0.0.1'])(
    'answers let %s read them',
    async (origin) => {
      await answering({ statusCode: 404 });
      expect((await send(gateway.port, { headers: ['Origin', origin] })).headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'etag,x-request-id',
        vary: 'Origin',
      });
    },
  );

  test.for(['null', 'file://', 'chrome-extension://abc'])(
    'responses are not readable when the origin is %s',
    async (origin) => {
      await answering({ statusCode: 200 });
      const { headers } = await send(gateway.port, { headers: ['Origin', origin] });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  test('only listed origins are allowed when there is a list', async () => {
    gateway = await startGateway(async () => ({ statusCode: 200 }), { origins: ['https://app.example'] });
    for (const [origin, allowed] of [
      ['https://app.example', 'https://app.example'],
      ['https://app.example.evil', undefined],
      ['http://app.example', undefined],
    ] as const) {
      expect((await send(gateway.port, preflight(origin))).headers['access-control-allow-origin']).toBe(allowed);
    }
  });

  test('responses have no CORS headers when there is no origin', async () => {
    await answering({ statusCode: 200 });
    const { headers } = await send(gateway.port, {});
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

test('running request finishes when the gateway closes', async () => {
  const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<FunctionResult>()];
  gateway = await startGateway(() => {
    begun.resolve();
    return done.promise;
  });
  const running = send(gateway.port, {});
  await begun.promise;
  const closed = gateway.close();
  done.resolve({ statusCode: 200, body: 'done' });
  await closed;
  expect(await running).toMatchObject({ status: 200, body: 'done' });
});
