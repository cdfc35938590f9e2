import { gunzipSync } from 'node:zlib';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { beforeAll, expect, test } from 'vitest';
import { handler } from '../../../functions/jobs/serve-page.ts';
import { fileSettings } from '../../../shared/core/config.ts';
import { docsPolicy } from '../../../shared/http/console-headers.ts';
import { onFiles } from '../../../shared/persistence/s3.ts';

const policy = "default-src 'none'; script-src 'self'";
const browser = { accept: 'text/html,application/xhtml+xml' };
const script = `console.log(${JSON.stringify('words '.repeat(500))});`;

const putFile = (path: string, Body: string | Buffer, ContentType: string, CacheControl: string) =>
  onFiles((client, Bucket) =>
    client.send(new PutObjectCommand({ Bucket, Key: `site${path}`, Body, ContentType, CacheControl })),
  );

const ask = (rawPath: string, headers: Record<string, string> = {}) =>
  handler({ rawPath, headers, requestContext: { requestId: 'request-1' } });

const textOf = ({ body }: { readonly body: string }): string => Buffer.from(body, 'base64').toString();

beforeAll(async () => {
  Object.assign(process.env, { CONSOLE_BUCKET: fileSettings().FILES_BUCKET, CONSOLE_POLICY: policy });
  const forever = 'public, max-age=31536000, immutable';
  await putFile('/index.html', '<title>Basalt</title>', 'text/html; charset=utf-8', 'no-cache');
  await putFile('/console.json', '{"api":"https://api.example.com"}', 'application/json', 'no-cache');
  await putFile('/assets/main-ABCD1234.js', script, 'text/javascript; charset=utf-8', forever);
  await putFile('/assets/font-ABCD1234.woff2', Buffer.from([0, 1, 2, 255]), 'font/woff2', forever);
});

test.each(['/', '/projects/1/documents/posts', '/verify-email'])('the page is served at %s', async (path) => {
  const served = await ask(path, browser);
  expect(served).toMatchObject({
    statusCode: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000',
    },
    isBase64Encoded: true,
  });
  expect(textOf(served)).toBe('<title>Basalt</title>');
});

test('files are served byte for byte, and cached for a year when named after their content', async () => {
  const font = await ask('/assets/font-ABCD1234.woff2', { 'accept-encoding': 'gzip, br' });
  expect(font.headers).toMatchObject({
    'content-type': 'font/woff2',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  expect(font.headers).not.toHaveProperty('content-encoding');
  expect([...Buffer.from(font.body, 'base64')]).toEqual([0, 1, 2, 255]);
  expect(JSON.parse(textOf(await ask('/console.json')))).toEqual({ api: 'https://api.example.com' });
});

test('a script is compressed when the browser accepts gzip', async () => {
  const packed = await ask('/assets/main-ABCD1234.js', { 'accept-encoding': 'gzip, deflate, br' });
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(Buffer.from(packed.body, 'base64').length).toBeLessThan(script.length / 5);
  expect(gunzipSync(Buffer.from(packed.body, 'base64')).toString()).toBe(script);
  const plain = await ask('/assets/main-ABCD1234.js');
  expect(plain.headers).not.toHaveProperty('content-encoding');
  expect(textOf(plain)).toBe(script);
});

test('the documents are served with a policy of their own', async () => {
  await putFile('/docs/reference/errors.html', '<title>Error codes</title>', 'text/html; charset=utf-8', 'no-cache');
  const served = await ask('/docs/reference/errors', browser);
  expect(textOf(served)).toBe('<title>Error codes</title>');
  expect(served.headers).toMatchObject({ 'content-security-policy': docsPolicy, 'cache-control': 'no-cache' });
});

test('304 when the browser has the page', async () => {
  const { headers } = await ask('/', browser);
  const { etag } = headers as { readonly etag?: string };
  expect(etag).toMatch(/^W\/"[0-9a-f]+"$/);
  const known = await ask('/', { ...browser, 'if-none-match': etag ?? '' });
  expect(known).toMatchObject({ statusCode: 304, body: '', headers: { etag, 'cache-control': 'no-cache' } });
  expect((await ask('/', { ...browser, 'if-none-match': 'W/"0"' })).statusCode).toBe(200);
});

test.each([
  ['/assets/other-ABCD1234.js', {}],
  ['/nothing', {}],
  ['/nothing', { accept: '*/*' }],
  ['/api', browser],
  ['/api/projects', browser],
])('404 NOT_FOUND for %s with %j', async (path, headers) => {
  const served = await ask(path, headers);
  expect([served.statusCode, JSON.parse(served.body)]).toMatchObject([404, { success: false, code: 'NOT_FOUND' }]);
  expect(served.headers).toMatchObject({ 'cache-control': 'no-store' });
});
