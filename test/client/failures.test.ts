import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { BasaltError } from '../../client/src/index.ts';
import type { Reply } from '../support/faults/fault.ts';
import { HttpProxy } from '../support/faults/http-proxy.ts';
import type { UsersProject } from '../support/fixtures/users.ts';
import { asServer, newShop } from './shop.ts';

let project: UsersProject;
let proxy: HttpProxy;
const waits: number[] = [];

beforeAll(async () => {
  project = await newShop();
  proxy = await HttpProxy.start(inject('stack').baseUrl);
  // Removes the waits between retries. `waits` keeps how long they would have been.
  const real = globalThis.setTimeout;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((act: () => void, ms = 0, ...rest: []) => {
    if (ms >= 100 && new Error().stack?.includes('repeated.ts')) waits.push(ms);
    return real(act, new Error().stack?.includes('repeated.ts') ? 0 : ms, ...rest);
  }) as typeof setTimeout);
});

afterEach(() => {
  proxy.heal();
  proxy.asked.length = 0;
  waits.length = 0;
});

afterAll(async () => {
  vi.restoreAllMocks();
  await proxy.close();
});

const busy = (code: string, status: number, seconds?: number): Reply => ({
  status,
  body: { success: false, code, message: 'Later.', requestId: 'r-1' },
  ...(seconds === undefined ? {} : { headers: { 'retry-after': String(seconds) } }),
});

const keys = (): readonly unknown[] => proxy.asked.map(({ headers }) => headers['idempotency-key']);

describe('write', () => {
  test.each(['cut', 'lose the answer'] as const)('happens once when its connection fails with: %s', async (fault) => {
    const app = asServer(project, proxy.url);
    proxy.next(fault, fault);
    const made = await app.notes.insert({ fault });
    expect(made).toMatchObject({ fault });
    expect(new Set(keys()).size).toBe(1);
    expect(keys()).toHaveLength(3);
    expect(await asServer(project).notes.count({ where: { fault } })).toBe(1);
  });

  test('is retried with its key after 503, and while its first request runs, after the requested time', async () => {
    const app = asServer(project, proxy.url);
    proxy.next(busy('SERVICE_UNAVAILABLE', 503, 7), busy('IDEMPOTENCY_IN_PROGRESS', 409, 1));
    await app.notes.insert({ a: 1 });
    expect(new Set(keys()).size).toBe(1);
    expect(waits[0]).toBeGreaterThanOrEqual(7000);
    expect(waits[1]).toBeGreaterThanOrEqual(1000);
  });

  test('has its own key or the given one', async () => {
    const app = asServer(project, proxy.url);
    const { _id } = await app.notes.insert({ a: 1 });
    await app.notes.update(_id, { a: 2 });
    await app.notes.delete(_id);
    const made = await app.notes.insert({ b: 1 }, { idempotencyKey: 'order-17' });
    expect(await app.notes.insert({ b: 1 }, { idempotencyKey: 'order-17' })).toEqual(made);
    expect(keys().slice(0, 3)).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(new Set(keys().slice(0, 3)).size).toBe(3);
    expect(keys().slice(3)).toEqual(['order-17', 'order-17']);
  });

  test('throws after six requests without a response', async () => {
    proxy.meet('cut');
    const failure = await asServer(project, proxy.url)
      .notes.insert({ a: 1 })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BasaltError);
    expect(failure).toMatchObject({ status: 0, code: 'NO_ANSWER', cause: expect.any(Error) });
    expect(keys()).toHaveLength(6);
    expect(new Set(keys()).size).toBe(1);
  });

  test('throws immediately when the service requests a longer wait than allowed', async () => {
    proxy.meet(busy('SERVICE_UNAVAILABLE', 503, 31));
    await expect(asServer(project, proxy.url).notes.insert({ a: 1 })).rejects.toMatchObject({ status: 503 });
    expect(proxy.asked).toHaveLength(1);
  });

  test.each([
    [400, 'VALIDATION_FAILED'],
    [401, 'API_KEY_INVALID'],
    [409, 'DUPLICATE_VALUE'],
    [409, 'IDEMPOTENCY_KEY_REUSED'],
    [409, 'IDEMPOTENCY_OUTCOME_UNKNOWN'],
    [429, 'RATE_LIMITED'],
    [500, 'INTERNAL_ERROR'],
    [502, 'PROVIDER_FAILED'],
  ])('throws immediately after %d %s', async (status, code) => {
    proxy.meet(busy(code, status, 1));
    await expect(asServer(project, proxy.url).notes.insert({ a: 1 })).rejects.toMatchObject({
      name: 'BasaltError',
      status,
      code,
      message: 'Later.',
      requestId: 'r-1',
      errors: [],
    });
    expect(proxy.asked).toHaveLength(1);
  });
});

test('read is retried without a key', async () => {
  proxy.next('cut');
  expect(await asServer(project, proxy.url).tasks.count()).toBe(0);
  expect(keys()).toEqual([undefined, undefined]);
});

test('error from a gateway has a code', async () => {
  proxy.next({ status: 413, body: { message: 'Request Too Long' } }, { status: 200, body: '<html>' });
  const app = asServer(project, proxy.url);
  await expect(app.notes.count()).rejects.toMatchObject({ status: 413, code: 'HTTP_413', message: 'Request Too Long' });
  await expect(app.notes.count()).rejects.toMatchObject({ status: 200, code: 'HTTP_200' });
});

describe('aborted request', () => {
  test('is not sent when it was aborted before', async () => {
    const reason = new Error('mine');
    const signal = AbortSignal.abort(reason);
    const app = asServer(project, proxy.url);
    const refused = { name: 'BasaltError', status: 0, code: 'ABORTED', cause: reason };
    await expect(app.notes.insert({ a: 1 }, { signal })).rejects.toMatchObject(refused);
    await expect(app.notes.list({ signal })).rejects.toMatchObject(refused);
    await expect(app.notes.get('0'.repeat(24), { signal })).rejects.toMatchObject(refused);
    await expect(app.notes.aggregate([], { signal })).rejects.toMatchObject(refused);
    await expect(app.mail.send({ to: 'a@example.com', text: 'a' }, { signal })).rejects.toMatchObject(refused);
    await expect(app.files.upload(new Blob(['a']), { signal })).rejects.toMatchObject(refused);
    expect(proxy.asked).toEqual([]);
  });

  test.each([
    ['aborted while it waits for its response', 'hang'],
    ['aborted while it waits for its retry', busy('SERVICE_UNAVAILABLE', 503, 7)],
  ] as const)('ends immediately and is not retried: %s', async (_when, fault) => {
    const controller = new AbortController();
    proxy.meet(() => {
      controller.abort();
      return fault;
    });
    const { signal } = controller;
    await expect(asServer(project, proxy.url).notes.insert({ a: 1 }, { signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect(proxy.asked).toHaveLength(1);
  });
});

test('write is not sent to the target of a redirect, because it would become a read', async () => {
  proxy.meet({ status: 301, headers: { location: `${inject('stack').baseUrl}/api/data/notes` } });
  await expect(asServer(project, proxy.url).notes.insert({ a: 1 })).rejects.toMatchObject({
    status: 301,
    code: 'REDIRECTED',
  });
  expect(proxy.asked).toHaveLength(1);
});

test.each([
  ['', 'notes'],
  ['nonsense', 'notes'],
  ['localhost:3000', 'notes'],
  ['https://', ''],
  [null as unknown as string, 'notes'],
  ['http://127.0.0.1:9', '.'],
  ['http://127.0.0.1:9', '..'],
])('address %j with the id %j throws without a request and explains what is expected', async (url, id) => {
  const { notes } = asServer(project, url);
  const refused = {
    name: 'BasaltError',
    status: 0,
    code: 'INVALID_ADDRESS',
    message: expect.stringContaining('https://'),
  };
  await expect(notes.get(id)).rejects.toMatchObject(refused);
  await expect(notes.update(id, { a: 1 })).rejects.toMatchObject(refused);
  await expect(notes.recover(id)).rejects.toMatchObject(refused);
  await expect(notes.delete(id, { permanent: true })).rejects.toMatchObject(refused);
  expect(waits).toEqual([]);
});

test('id that contains dots is sent unchanged', async () => {
  await expect(asServer(project, proxy.url).notes.get('..a')).rejects.not.toMatchObject({ status: 0 });
  expect(proxy.asked.map(({ path }) => path)).toEqual(['/api/data/notes/..a']);
});

test('upload ends with the error of its confirmation when the storage never lists the uploaded parts', async () => {
  const [filePath, signedUrl] = ['files/a', `${proxy.url}/part`];
  const data = { partSize: 1, uploaded: 0, parts: [{ number: 1, size: 1, signedUrl }] };
  proxy.meet(({ path }) => {
    if (path.endsWith('/upload-confirm')) return busy('UPLOAD_NOT_READY', 409);
    return { status: 200, body: path.endsWith('/upload-parts') ? { data } : { filePath } };
  });
  await expect(asServer(project, proxy.url).files.upload(new Blob(['a']))).rejects.toMatchObject({
    code: 'UPLOAD_NOT_READY',
  });
  expect(proxy.asked.filter(({ path }) => path === '/part')).toHaveLength(1);
});

test('key with invalid characters throws its TypeError and is not retried', async () => {
  await expect(asServer({ ...project, secretKey: 'sk_\n_' }).notes.count()).rejects.toThrow(TypeError);
  expect(waits).toEqual([]);
});
