import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { HeadObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localAccount } from '../../../infra/local/keys.ts';
import { type Bucket, managedBucket, type OnBucket } from '../../../shared/files/bucket.ts';
import { externalBucket, onCustomerBucket } from '../../../shared/files/external-bucket.ts';
import { onFiles } from '../../../shared/persistence/s3.ts';
import { inParallel } from '../../support/clients/client.ts';
import { type OtherStorage, startOtherStorage } from '../../support/clients/other-storage.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { put } from '../../support/fixtures/files.ts';

let other: OtherStorage;

beforeAll(async () => {
  other = await startOtherStorage();
});

afterAll(() => other.stop());

const buckets: readonly (readonly [string, () => Bucket, () => OnBucket])[] = [
  ['our bucket', () => managedBucket, () => onFiles],
  ['a bucket of a project’s own', () => externalBucket(other, other.keys), () => onCustomerBucket(other, other.keys)],
];

const text = (bytes: string): Buffer => Buffer.from(bytes);

/** Type, caching and disposition as the storage has them. */
const keptOf = async (on: OnBucket, Key: string) => {
  const kept = await on((client, Bucket) => client.send(new HeadObjectCommand({ Bucket, Key })));
  return [kept.ContentType, kept.CacheControl, kept.ContentDisposition];
};

describe.each(buckets)('%s', (_name, bucketOf, on) => {
  let bucket: Bucket;
  let key: string;
  let target: string;

  beforeAll(() => {
    bucket = bucketOf();
  });

  const fresh = (): void => {
    key = `pending/contract/${randomUUID()}_a.txt`;
    target = key.replace('pending', 'files');
  };

  const stored = async (bytes: string): Promise<{ etag: string; contentType: string }> => {
    fresh();
    await bucket.put(key, text(bytes), 'text/plain');
    const found = await bucket.head(key);
    if (!found) throw new Error('The object is not there');
    return found;
  };

  test('returns size, type and version of an object, and null without one', async () => {
    fresh();
    expect(await bucket.head(key)).toBeNull();
    await bucket.put(key, text('hello'), 'text/css');
    const first = await bucket.head(key);
    expect(first).toEqual({ size: 5, contentType: 'text/css', etag: expect.stringMatching(/^".+"$/) });
    await bucket.put(key, text('other'), 'text/css');
    expect((await bucket.head(key))?.etag).not.toBe(first?.etag);
  });

  test('accepts a presigned upload of exactly the signed type and size', async () => {
    fresh();
    const url = await bucket.presignUpload(key, { contentType: 'text/plain', size: 5, expiresIn: 60 });
    for (const [body, type] of [
      ['hello!', 'text/plain'],
      ['hell', 'text/plain'],
      ['hello', 'text/html'],
    ] as const) {
      expect(await put(url, body, type)).toBe(403);
    }
    expect(await bucket.head(key)).toBeNull();
    expect(await put(url, 'hello')).toBe(200);
    expect(await bucket.head(key)).toMatchObject({ size: 5, contentType: 'text/plain' });
  });

  test('copies the given version with its type', async () => {
    const { etag, contentType } = await stored('hello');
    expect(await bucket.copy({ from: key, to: target, etag, contentType })).toBe('copied');
    expect(await bucket.head(target)).toEqual({ size: 5, contentType: 'text/plain', etag });
  });

  test('copies the given type and no other metadata of the upload', async () => {
    fresh();
    const url = await bucket.presignUpload(key, { contentType: 'text/plain', size: 5, expiresIn: 60 });
    const headers = { 'content-type': 'text/plain', 'cache-control': 'max-age=1', 'content-disposition': 'inline' };
    expect((await fetch(url, { method: 'PUT', headers, body: 'hello' })).status).toBe(200);
    expect(await keptOf(on(), key)).toEqual(Object.values(headers));
    const { etag = '' } = (await bucket.head(key)) ?? {};
    expect(await bucket.copy({ from: key, to: target, etag, contentType: 'image/png' })).toBe('copied');
    expect(await keptOf(on(), target)).toEqual(['image/png', undefined, undefined]);
    const disposition = `inline; filename="a.txt"; filename*=UTF-8''%C3%A4.txt`;
    const named = { from: key, to: `${target}2`, etag, contentType: 'image/png', disposition };
    expect(await bucket.copy(named)).toBe('copied');
    expect(await keptOf(on(), named.to)).toEqual(['image/png', undefined, disposition]);
  });

  test('rejects a copy of another version', async () => {
    const { etag, contentType } = await stored('hello');
    await bucket.put(key, text('other'), contentType);
    expect(await bucket.copy({ from: key, to: target, etag, contentType })).toBe('refused');
    expect(await bucket.head(target)).toBeNull();
  });

  test('rejects a copy over an existing object', async () => {
    const first = await stored('hello');
    expect(await bucket.copy({ from: key, to: target, ...first })).toBe('copied');
    await bucket.put(key, text('other!'), 'text/plain');
    const second = await bucket.head(key);
    expect(await bucket.copy({ from: key, to: target, ...first, etag: second?.etag ?? '' })).toBe('refused');
    expect((await bucket.head(target))?.etag).toBe(first.etag);
  });

  test('lets one of 50 concurrent copies through', async () => {
    const { etag, contentType } = await stored('hello');
    const outcomes = await inParallel(50, () => bucket.copy({ from: key, to: target, etag, contentType }));
    expect(outcomes.filter((outcome) => outcome === 'copied')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(49);
  });

  test('reports a missing source', async () => {
    fresh();
    expect(await bucket.copy({ from: key, to: target, etag: '"a"', contentType: 'text/plain' })).toBe('missing');
  });

  test('removes objects and ignores missing ones', async () => {
    await stored('hello');
    const others = Array.from({ length: 40 }, (_, index) => `${key}${index}`);
    await Promise.all(others.slice(0, 5).map((name) => bucket.put(name, text('a'), 'text/plain')));
    await bucket.remove([key, ...others]);
    await bucket.remove([key]);
    await bucket.remove([]);
    for (const name of [key, ...others.slice(0, 5)]) expect(await bucket.head(name)).toBeNull();
  });
});

test('no bucket accepts a presigned upload after it expired', async () => {
  const presigned = { contentType: 'text/plain', size: 5, expiresIn: 1 };
  const urls = await Promise.all(
    buckets.map(([, bucketOf]) => bucketOf().presignUpload(`pending/contract/${randomUUID()}_a.txt`, presigned)),
  );
  await pause(2100);
  for (const url of urls) expect(await put(url, 'hello')).toBe(403);
});

describe('503 STORAGE_UNAVAILABLE from a customer’s storage, without its keys or messages', () => {
  const unavailable = {
    code: 'STORAGE_UNAVAILABLE',
    message: "The project's bucket is unavailable or rejects its keys.",
  };

  test.each([
    ['with other keys', () => externalBucket(other, { ...other.keys, secretAccessKey: 'wrong' })],
    ['without the bucket', () => externalBucket({ ...other, bucket: 'no-such-bucket' }, other.keys)],
    ['that nobody serves', () => externalBucket({ ...other, endpoint: 'http://127.0.0.1:1' }, other.keys)],
    [
      'at our own addresses',
      () => externalBucket({ ...other, endpoint: process.env.AWS_ENDPOINT_URL_S3 ?? '' }, other.keys),
    ],
    ['at an address of the inside', () => externalBucket({ ...other, endpoint: 'http://169.254.169.254' }, other.keys)],
    ['at a name of the inside', () => externalBucket({ ...other, endpoint: 'http://metadata.internal' }, other.keys)],
    ['at an odd spelling of loopback', () => externalBucket({ ...other, endpoint: 'http://0x7f.1:80' }, other.keys)],
  ])('%s', async (_what, bucketOf) => {
    const bucket = bucketOf();
    expect(await laterRefusalOf(bucket.put('pending/a', text('a'), 'text/plain'))).toMatchObject(unavailable);
    expect(await laterRefusalOf(bucket.copy({ from: 'a', to: 'b', etag: '"a"', contentType: 'a/b' }))).toMatchObject(
      unavailable,
    );
  });
});

describe('the local file store', () => {
  test('403 for keys of other deployments, with which any page could sign', async () => {
    const place = {
      region: localAccount.region,
      endpoint: process.env.AWS_ENDPOINT_URL_S3 ?? '',
      forcePathStyle: true,
    };
    const stranger = new S3Client({ ...place, credentials: localAccount.credentials });
    const list = new ListObjectsV2Command({ Bucket: process.env.FILES_BUCKET });
    await expect(stranger.send(list)).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
    stranger.destroy();
    expect((await onFiles((client, Bucket) => client.send(new ListObjectsV2Command({ Bucket })))).Name).toBeDefined();
  });
});
