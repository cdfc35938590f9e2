import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Files, startFiles } from '../../../infra/local/files/start-files.ts';
import { inParallel } from '../../support/clients/client.ts';

const keys = { accessKeyId: 'local', secretAccessKey: 'local' };
const region = 'eu-west-1';
const Bucket = 'basalt-files';
const quiet = { report: () => undefined, onExit: () => undefined };

let directory: string;
let files: Files;
let s3: S3Client;
let made = 0;

const clientWith = (change: object = {}): S3Client =>
  new S3Client({ endpoint: files.s3Url, region, credentials: keys, forcePathStyle: true, maxAttempts: 1, ...change });

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-files-'));
  files = await startFiles({ ...quiet, directory, bucket: Bucket, publicFolder: 'files', region, keys, port: 0 });
  s3 = clientWith({ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' });
});

afterAll(async () => {
  s3.destroy();
  await files.stop();
  await rm(directory, { recursive: true, force: true });
});

const newKey = (): string => `pending/p/${++made}.txt`;

const put = (Key: string, Body = 'hello', more: object = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'text/plain', ...more }));
const head = (Key: string, more: object = {}) => s3.send(new HeadObjectCommand({ Bucket, Key, ...more }));
const textOf = async (Key: string) => (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();

/** `200`, or the status and code of the error. */
const outcome = async (act: Promise<unknown>): Promise<string> => {
  try {
    await act;
    return '200';
  } catch (error) {
    const { name, $metadata } = error as S3ServiceException;
    return `${$metadata.httpStatusCode} ${name}`;
  }
};

const signed = (Key: string, { type = 'text/plain', size = 5, expiresIn = 60, signingDate = new Date() } = {}) =>
  getSignedUrl(s3, new PutObjectCommand({ Bucket, Key, ContentType: type, ContentLength: size }), {
    expiresIn,
    signingDate,
    signableHeaders: new Set(['content-type', 'content-length']),
  });

const upload = async (url: string, body = 'hello', headers: Record<string, string> = {}): Promise<string> => {
  const answer = await fetch(url, { method: 'PUT', body, headers: { 'content-type': 'text/plain', ...headers } });
  const code = /<Code>(.*)<\/Code>/.exec(await answer.text())?.[1];
  return code ? `${answer.status} ${code}` : String(answer.status);
};

describe('presigned upload', () => {
  test('200 stores the signed content with its type, repeatedly', async () => {
    const key = newKey();
    const url = await signed(key);
    expect(await upload(url)).toBe('200');
    expect(await upload(url, 'other')).toBe('200');
    expect(await head(key)).toMatchObject({ ContentType: 'text/plain', ContentLength: 5 });
    expect(await textOf(key)).toBe('other');
  });

  test.each<[string, string, string, Record<string, string>]>([
    ['a longer body', '403 SignatureDoesNotMatch', 'hello!', {}],
    ['a shorter body', '403 SignatureDoesNotMatch', 'hell', {}],
    ['another content type', '403 SignatureDoesNotMatch', 'hello', { 'content-type': 'text/html' }],
    ['a header of S3 that was not signed', '403 AccessDenied', 'hello', { 'x-amz-acl': 'public-read' }],
    ['a copy in its place', '403 AccessDenied', '', { 'x-amz-copy-source': `/${Bucket}/pending/p/1.txt` }],
    ['other bytes than its MD5', '400 BadDigest', 'hello', { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }],
  ])('rejected with %s: %s, and stores nothing', async (_what, expected, body, headers) => {
    const key = newKey();
    expect(await upload(await signed(key), body, headers)).toBe(expected);
    expect(await outcome(head(key))).toBe('404 NotFound');
  });

  test.each<[string, string, (url: URL) => void]>([
    ['another key', '403 SignatureDoesNotMatch', (url) => (url.pathname += 'x')],
    ['a longer time', '403 SignatureDoesNotMatch', (url) => url.searchParams.set('X-Amz-Expires', '6000')],
    ['one more parameter', '403 SignatureDoesNotMatch', (url) => url.searchParams.set('tagging', '')],
    ['a parameter twice', '400 AuthorizationQueryParametersError', (url) => url.searchParams.append('X-Amz-Date', 'x')],
    [
      'a time longer than a week',
      '400 AuthorizationQueryParametersError',
      (url) => url.searchParams.set('X-Amz-Expires', '604801'),
    ],
    [
      'a damaged signature',
      '403 SignatureDoesNotMatch',
      (url) => url.searchParams.set('X-Amz-Signature', '0'.repeat(64)),
    ],
    ['no signature', '403 AccessDenied', (url) => url.searchParams.delete('X-Amz-Signature')],
    [
      'an unknown access key',
      '403 InvalidAccessKeyId',
      (url) => url.searchParams.set('X-Amz-Credential', 'x/20260101/eu-west-1/s3/aws4_request'),
    ],
  ])('rejected with %s: %s', async (_what, expected, change) => {
    const url = new URL(await signed(newKey()));
    change(url);
    expect(await upload(url.href)).toBe(expected);
  });

  test('403 when it has expired or is not valid yet', async () => {
    const old = await signed(newKey(), { expiresIn: 10, signingDate: new Date(Date.now() - 11_000) });
    const early = await signed(newKey(), { signingDate: new Date(Date.now() + 20 * 60_000) });
    expect(await upload(old)).toBe('403 AccessDenied');
    expect(await upload(early)).toBe('403 AccessDenied');
  });

  test('stores nothing when it is interrupted', async () => {
    const key = newKey();
    const url = await signed(key, { size: 1000 });
    await new Promise<void>((resolve) => {
      const sending = request(url, {
        method: 'PUT',
        headers: { 'content-type': 'text/plain', 'content-length': 1000 },
      });
      sending.on('error', () => resolve());
      sending.write('x'.repeat(500), () => sending.destroy());
    });
    expect(await outcome(head(key))).toBe('404 NotFound');
  });

  test('200 from any origin, 403 when a method or header is not allowed', async () => {
    const url = await signed(newKey());
    const ask = (method: string, headers: string) =>
      fetch(url, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example.com',
          'access-control-request-method': method,
          'access-control-request-headers': headers,
        },
      });
    const allowed = await ask('PUT', 'Content-Type');
    expect(allowed.status).toBe(200);
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'PUT, GET, HEAD',
      'access-control-allow-headers': 'content-type',
    });
    expect((await ask('DELETE', 'content-type')).status).toBe(403);
    expect((await ask('PUT', 'authorization')).status).toBe(403);
    const stored = await fetch(url, {
      method: 'PUT',
      body: 'hello',
      headers: { 'content-type': 'text/plain', origin: 'https://app.example.com' },
    });
    expect(stored.headers.get('access-control-allow-origin')).toBe('*');
    expect(stored.headers.get('access-control-expose-headers')).toBe('etag');
  });
});

describe('signed request', () => {
  test.each<[string, string, object]>([
    ['a wrong secret', '403 SignatureDoesNotMatch', { credentials: { ...keys, secretAccessKey: 'x' } }],
    ['an unknown access key', '403 InvalidAccessKeyId', { credentials: { ...keys, accessKeyId: 'x' } }],
    ['another region', '400 AuthorizationHeaderMalformed', { region: 'us-east-1' }],
    ['a clock that is an hour slow', '403 RequestTimeTooSkewed', { systemClockOffset: -3_600_000 }],
  ])('rejected with %s: %s', async (_what, expected, change) => {
    const client = clientWith(change);
    expect(await outcome(client.send(new PutObjectCommand({ Bucket, Key: newKey(), Body: 'x' })))).toBe(expected);
    client.destroy();
  });

  test('400 when the body is not the signed one', async () => {
    const client = clientWith();
    client.middlewareStack.add(
      (next) => (args) => {
        (args.request as { body: unknown }).body = 'other';
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
    const act = client.send(new PutObjectCommand({ Bucket, Key: newKey(), Body: 'hello' }));
    expect(await outcome(act)).toBe('400 XAmzContentSHA256Mismatch');
    client.destroy();
  });

  test('403 when there is no signature', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
      expect((await fetch(`${files.s3Url}/${Bucket}/files/p/1.txt`, { method })).status).toBe(403);
    }
  });

  test('200 with the defaults of the SDK, including checksums', async () => {
    const client = clientWith();
    const Key = newKey();
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'hello' }));
    expect(await textOf(Key)).toBe('hello');
    client.destroy();
  });

  test.each([
    'text/html; charset=utf-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json',
    'image/png;,text/html',
    'no type at all',
  ])('200 keeps the content type %s, through copies too', async (ContentType) => {
    const key = newKey();
    await put(key, 'hello', { ContentType });
    const [copied, replaced] = [newKey(), newKey()];
    await s3.send(new CopyObjectCommand({ Bucket, Key: copied, CopySource: `${Bucket}/${key}` }));
    await s3.send(
      new CopyObjectCommand({
        Bucket,
        Key: replaced,
        CopySource: `${Bucket}/${copied}`,
        MetadataDirective: 'REPLACE',
        ContentType,
      }),
    );
    for (const each of [key, copied, replaced]) {
      expect(await head(each)).toMatchObject({ ContentType, ContentLength: 5, Metadata: {} });
      expect(await textOf(each)).toBe('hello');
    }
  });

  test.each([
    ['a part that leads up', 'files/../../../x', '400 InvalidURI'],
    ['a part that leads nowhere', 'files/./x', '400 InvalidURI'],
    ['a backslash', 'files/..\\x', '400 InvalidURI'],
    ['1 025 characters', `${'x/'.repeat(512)}x`, '400 KeyTooLongError'],
  ])('rejected with a key of %s', async (_what, key, expected) => {
    expect(await outcome(put(key))).toBe(expected);
  });

  test('404 when an object, the source of a copy or a bucket does not exist', async () => {
    const copy = new CopyObjectCommand({
      Bucket,
      Key: newKey(),
      CopySource: `${Bucket}/none`,
      CopySourceIfMatch: '"x"',
    });
    expect(await outcome(head('none'))).toBe('404 NotFound');
    expect(await outcome(s3.send(copy))).toBe('404 NoSuchKey');
    expect(await outcome(s3.send(new PutObjectCommand({ Bucket: 'none', Key: 'x', Body: 'x' })))).toBe(
      '404 NoSuchBucket',
    );
    expect(await outcome(s3.send(new DeleteObjectCommand({ Bucket, Key: 'none' })))).toBe('200');
  });

  test('lists by prefix and deletes many objects', async () => {
    for (const name of ['a', 'b', 'c']) await put(`many/${name}`);
    const list = async () => (await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'many/' }))).Contents ?? [];
    expect((await list()).map(({ Key }) => Key)).toEqual(['many/a', 'many/b', 'many/c']);
    const Objects = ['many/a', 'many/c', 'many/none'].map((Key) => ({ Key }));
    await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect((await list()).map(({ Key }) => Key)).toEqual(['many/b']);
  });
});

describe('conditions', () => {
  const copy = (from: string, Key: string, more: object) =>
    s3.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${from}`, ...more }));

  test('412 when the source of a copy is another version; the target is unchanged', async () => {
    const [from, to] = [newKey(), newKey()];
    const { ETag: first } = await put(from, 'first');
    await put(from, 'second');
    expect(await outcome(copy(from, to, { CopySourceIfMatch: first }))).toBe('412 PreconditionFailed');
    expect(await outcome(head(to))).toBe('404 NotFound');
    const { ETag: second } = await head(from);
    expect(await outcome(copy(from, to, { CopySourceIfMatch: second }))).toBe('200');
    expect(await textOf(to)).toBe('second');
  });

  test('412 when an object exists already or has another version', async () => {
    const key = newKey();
    const { ETag: first } = await put(key, 'first', { IfNoneMatch: '*' });
    expect(await outcome(put(key, 'again', { IfNoneMatch: '*' }))).toBe('412 PreconditionFailed');
    expect(await outcome(put(key, 'second', { IfMatch: first }))).toBe('200');
    expect(await outcome(put(key, 'third', { IfMatch: first }))).toBe('412 PreconditionFailed');
    expect(await textOf(key)).toBe('second');
  });

  test('412 for all except one of 20 concurrent copies to one key', async () => {
    const [from, to] = [newKey(), newKey()];
    await put(from);
    const outcomes = await inParallel(20, () => outcome(copy(from, to, { IfNoneMatch: '*' })));
    expect(outcomes.filter((one) => one === '200')).toHaveLength(1);
    expect(outcomes.filter((one) => one === '412 PreconditionFailed')).toHaveLength(19);
  });

  test('304 or 412 when the condition of a HEAD is false', async () => {
    const key = newKey();
    const { ETag } = await put(key);
    expect(await outcome(head(key, { IfNoneMatch: ETag }))).toMatch(/^304/);
    expect(await outcome(head(key, { IfMatch: '"x"' }))).toMatch(/^412/);
    expect(await outcome(head(key, { IfMatch: ETag }))).toBe('200');
  });
});

describe('object that is too large for fauxqs', () => {
  const size = 12 * 1024 * 1024;
  const content = Buffer.alloc(size, 'abcdefghi');
  const md5 = createHash('md5').update(content).digest('hex');
  const range = async (Key: string, Range: string): Promise<string> => {
    const { Body, ContentRange } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }));
    return `${ContentRange} ${await Body?.transformToString()}`;
  };

  test('200 by a signed URL, also in ranges, as a copy and as a public file', async () => {
    const key = newKey();
    const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key: key, ContentLength: size }));
    const stored = await fetch(url, { method: 'PUT', body: new Uint8Array(content) });
    expect([stored.status, stored.headers.get('etag')]).toEqual([200, `"${md5}"`]);
    expect(await head(key)).toMatchObject({ ContentLength: size, ETag: `"${md5}"`, Metadata: {} });
    const copy = `files/p/${++made}.txt`;
    await s3.send(
      new CopyObjectCommand({
        Bucket,
        Key: copy,
        CopySource: `${Bucket}/${key}`,
        CopySourceIfMatch: `"${md5}"`,
        MetadataDirective: 'REPLACE',
        ContentType: 'text/plain',
      }),
    );
    await s3.send(new DeleteObjectCommand({ Bucket, Key: key }));
    expect(await outcome(head(key))).toBe('404 NotFound');
    expect((await textOf(copy))?.length).toBe(size);
    expect(await range(copy, 'bytes=9-11')).toBe(`bytes 9-11/${size} abc`);
    expect(await range(copy, `bytes=${size - 2}-${size + 9}`)).toMatch(new RegExp(`^bytes ${size - 2}-${size - 1}/`));
    const read = await fetch(`${files.filesUrl}/${copy.slice('files/'.length)}`, { headers: { range: 'bytes=0-2' } });
    expect([read.status, await read.text()]).toEqual([206, 'abc']);
  });

  test('400 when the body is not the signed one, and nothing is stored', async () => {
    const key = newKey();
    const wrong = put(key, content.toString(), { ContentMD5: createHash('md5').update('x').digest('base64') });
    expect(await outcome(wrong)).toBe('400 BadDigest');
    expect(await outcome(head(key))).toBe('404 NotFound');
  });

  test('deletes only unused large files at the next start', async () => {
    const own = await mkdtemp(path.join(tmpdir(), 'basalt-files-'));
    const options = { ...quiet, directory: own, bucket: Bucket, publicFolder: 'files', region, keys, port: 0 };
    const at = async (run: (client: S3Client) => Promise<unknown>): Promise<void> => {
      const started = await startFiles(options);
      const client = clientWith({ endpoint: started.s3Url, requestChecksumCalculation: 'WHEN_REQUIRED' });
      await run(client);
      client.destroy();
      await started.stop();
    };
    await at(async (client) => {
      for (const Key of ['kept', 'gone']) await client.send(new PutObjectCommand({ Bucket, Key, Body: content }));
      await client.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
    });
    expect(await readdir(path.join(own, 'large'))).toHaveLength(2);
    await at(async (client) => {
      const { ETag } = await client.send(new HeadObjectCommand({ Bucket, Key: 'kept' }));
      expect(ETag).toBe(`"${md5}"`);
    });
    expect(await readdir(path.join(own, 'large'))).toHaveLength(1);
    await rm(own, { recursive: true, force: true });
  });
});
