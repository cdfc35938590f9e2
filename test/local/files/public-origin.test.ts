import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPublicOrigin } from '../../../infra/local/files/public-origin.ts';
import { type Files, startFiles } from '../../../infra/local/files/start-files.ts';
import { listen } from '../../../infra/local/ports.ts';
import { fileCacheControl, fileHeaders } from '../../../shared/files/file-headers.ts';

const keys = { accessKeyId: 'local', secretAccessKey: 'local' };
const quiet = { report: () => undefined, onExit: () => undefined };
const text = '0123456789';

let directory: string;
let files: Files;
let s3: S3Client;

const store = (Key: string, ContentType: string, more: object = {}) =>
  s3.send(new PutObjectCommand({ Bucket: 'basalt-files', Key, Body: text, ContentType, ...more }));

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-public-'));
  const place = { bucket: 'basalt-files', publicFolder: 'files', region: 'eu-west-1' };
  files = await startFiles({ ...quiet, ...place, directory, keys, port: 0 });
  s3 = new S3Client({ endpoint: files.s3Url, region: 'eu-west-1', credentials: keys, forcePathStyle: true });
  await store('files/p/a.txt', 'text/plain');
  await store('pending/p/b.txt', 'text/plain');
});

afterAll(async () => {
  s3.destroy();
  await files.stop();
  await rm(directory, { recursive: true, force: true });
});

const get = (where: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${files.filesUrl}${where}`, { method, headers });

describe('public file', () => {
  test('200 with type, security headers and cache time', async () => {
    const answer = await get('/p/a.txt');
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      ...fileHeaders,
      'cache-control': fileCacheControl,
      'content-type': 'text/plain',
      'content-length': '10',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
      'last-modified': expect.stringMatching(/ GMT$/),
    });
    expect(answer.headers.has('content-disposition')).toBe(false);
    expect(await answer.text()).toBe(text);
  });

  test('200 without a body when the method is HEAD', async () => {
    const answer = await get('/p/a.txt', {}, 'HEAD');
    expect(answer.headers.get('content-length')).toBe('10');
    expect(await answer.text()).toBe('');
  });

  test.each(['text/html', 'image/svg+xml', 'application/xml', 'image/png;,text/html', 'odd'])(
    '200 as a download when its type is %s',
    async (type) => {
      await store('files/p/page', type, { ContentDisposition: 'inline' });
      const { headers } = await get('/p/page');
      expect(headers.get('content-disposition')).toBe('attachment');
      expect(headers.get('content-type')).toBe(type);
    },
  );

  test.each<[string, number, string, string | null]>([
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=7-99', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-99', 206, text, 'bytes 0-9/10'],
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=10-', 416, 'The requested range is outside of the file.\n', 'bytes */10'],
    ['bytes=-0', 416, 'The requested range is outside of the file.\n', 'bytes */10'],
    ['bytes=4-2', 200, text, null],
    ['bytes=0-1,3-4', 200, text, null],
    ['bytes=-', 200, text, null],
    ['lines=1-2', 200, text, null],
  ])('%s → %i', async (range, status, body, contentRange) => {
    const answer = await get('/p/a.txt', { range });
    expect({ status: answer.status, body: await answer.text() }).toEqual({ status, body });
    expect(answer.headers.get('content-range')).toBe(contentRange);
  });

  test('206 when If-Range matches, 200 when it does not', async () => {
    const etag = (await get('/p/a.txt')).headers.get('etag') ?? '';
    expect((await get('/p/a.txt', { range: 'bytes=0-1', 'if-range': etag })).status).toBe(206);
    expect((await get('/p/a.txt', { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
  });

  test('304 when ETag or time match, 200 when they do not', async () => {
    const { headers } = await get('/p/a.txt');
    const etag = headers.get('etag') ?? '';
    const since = headers.get('last-modified') ?? '';
    const statusWith = async (conditions: Record<string, string>) => (await get('/p/a.txt', conditions)).status;
    expect(await statusWith({ 'if-none-match': etag })).toBe(304);
    expect(await statusWith({ 'if-none-match': `"x", W/${etag}` })).toBe(304);
    expect(await statusWith({ 'if-none-match': '*' })).toBe(304);
    expect(await statusWith({ 'if-none-match': '"x"', 'if-modified-since': since })).toBe(200);
    expect(await statusWith({ 'if-modified-since': since })).toBe(304);
    expect(await statusWith({ 'if-modified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' })).toBe(200);
    const unchanged = await get('/p/a.txt', { 'if-none-match': etag });
    expect(unchanged.headers.get('content-security-policy')).toBe(fileHeaders['content-security-policy']);
  });
});

describe('other requests to the file origin', () => {
  test.each([
    '/',
    '/p',
    '/p/',
    '/none',
    '/pending/p/b.txt',
    '/../pending/p/b.txt',
    '/..%2fpending/p/b.txt',
    '/%2e%2e/pending/p/b.txt',
    '/p/%00',
    '/p/%',
    '//p/a.txt',
    `/p/${'x'.repeat(1000)}`,
  ])('404 in plain text: %s', async (where) => {
    const answer = await get(where);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await answer.text()).toBe('File not found.\n');
  });

  test('404 when the file is deleted between its headers and its bytes', async () => {
    const found = [{ etag: '"a"', 'content-length': '10', 'content-type': 'text/plain' }];
    const missing = Object.assign(Readable.from([]), { statusCode: 404, headers: {} });
    const origin = createPublicOrigin({ head: async () => found.shift(), send: async () => missing }, '/b/files');
    const answer = await fetch(`http://127.0.0.1:${await listen(origin, 0)}/p/a.txt`);
    origin.close();
    expect([answer.status, await answer.text()]).toEqual([404, 'File not found.\n']);
  });

  test.each(['PUT', 'POST', 'DELETE', 'OPTIONS'])('403 when the method is %s', async (method) => {
    expect((await get('/p/a.txt', {}, method)).status).toBe(403);
  });
});
