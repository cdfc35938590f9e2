import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type RawRequest, send } from '../support/clients/local-gateway.ts';
import { notes } from '../support/fixtures/collections.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

const { baseUrl, dashboardUrl } = inject('stack');

let project: TestProject;

beforeAll(async () => {
  project = await newProject([notes]);
});

const sent = async (raw: RawRequest, base = baseUrl) => {
  const { status, headers, body } = await send(Number(new URL(base).port), raw);
  return { status, headers, body: JSON.parse(body) };
};

const insert = (headers: readonly string[], body: string | Buffer = '{"title":"a"}') =>
  sent({
    method: 'POST',
    path: '/api/data/notes',
    headers: ['x-api-key', project.secretKey, 'content-type', 'application/json', ...headers],
    body,
  });

describe('a compressed body', () => {
  test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, identity'])(
    '415 for the Content-Encoding %s',
    async (encoding) => {
      const answer = await insert(['content-encoding', encoding], gzipSync('{"title":"a"}'));
      expect(answer).toMatchObject({
        status: 415,
        headers: { 'accept-encoding': 'identity' },
        body: { code: 'ENCODING_NOT_SUPPORTED', message: expect.stringContaining(encoding) },
      });
    },
  );

  const compressed = (path: string) => ({
    method: 'POST',
    path,
    headers: ['content-encoding', 'gzip', 'svix-id', 'one', 'svix-timestamp', '1', 'svix-signature', 'v1,AA=='],
    body: gzipSync('{}'),
  });

  test('415 on a route of the dashboard', async () => {
    const answer = await sent(compressed('/api/auth/login'), dashboardUrl);
    expect(answer).toMatchObject({ status: 415, body: { code: 'ENCODING_NOT_SUPPORTED' } });
  });

  test.each([
    ['the form of an identity provider', () => '/api/userAuth/social/apple/callback'],
    ['an event of the mail provider', () => '/api/mail/webhook'],
    ["an event of a project's mail provider", () => `/api/mail/webhook/${project.id}`],
  ])('415 for %s', async (_what, path) => {
    const answer = await sent(compressed(path()));
    expect(answer).toMatchObject({ status: 415, body: { code: 'ENCODING_NOT_SUPPORTED' } });
  });

  test.each(['identity', 'Identity', ''])('is not expected with the Content-Encoding %j', async (encoding) => {
    expect((await insert(['content-encoding', encoding])).status).toBe(201);
  });
});

describe('400 VALIDATION_FAILED for a header that is sent twice:', () => {
  const refusal = (field: string) => ({
    status: 400,
    body: { code: 'VALIDATION_FAILED', errors: [{ field }], message: expect.stringContaining(field) },
  });

  test('Idempotency-Key', async () => {
    expect(await insert(['idempotency-key', 'one', 'idempotency-key', 'two'])).toMatchObject(
      refusal('Idempotency-Key'),
    );
  });

  test('Origin', async () => {
    const origins = ['origin', 'https://a.example', 'origin', 'https://b.example'];
    expect(await insert(origins)).toMatchObject(refusal('Origin'));
  });

  test('x-api-key', async () => {
    expect(await insert(['x-api-key', project.secretKey])).toMatchObject(refusal('x-api-key'));
  });

  test('Authorization, in the API and the dashboard', async () => {
    const tokens = ['authorization', 'Bearer a', 'authorization', 'Bearer b'];
    expect(await insert(tokens)).toMatchObject(refusal('Authorization'));
    const raw = { path: '/api/projects', headers: tokens };
    expect(await sent(raw, dashboardUrl)).toMatchObject(refusal('Authorization'));
  });

  test('x-refresh-token', async () => {
    const headers = ['x-api-key', project.publishableKey, 'x-refresh-token', 'a', 'x-refresh-token', 'b'];
    const raw = { method: 'POST', path: '/api/userAuth/refresh-token', headers };
    expect(await sent(raw)).toMatchObject(refusal('x-refresh-token'));
  });
});
