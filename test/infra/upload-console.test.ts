import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, expect, test } from 'vitest';
import { buildConsole } from '../../infra/build/console.ts';
import { uploadConsole } from '../../infra/operate/deploy/upload-console.ts';

const s3 = mockClient(S3Client);
afterEach(() => s3.reset());

test('console is uploaded with types and cache headers, the page last', async () => {
  s3.on(PutObjectCommand).resolves({});
  const files = await buildConsole('https://api.example.com', false);
  await uploadConsole('pages', files, { region: 'eu-west-1' });
  const put = s3.commandCalls(PutObjectCommand).map(({ args: [{ input }] }) => input);
  expect(put.map(({ Key }) => Key).sort()).toEqual(files.map(({ path }) => `site${path}`).sort());
  expect(put.at(-1)).toMatchObject({
    Bucket: 'pages',
    Key: 'site/index.html',
    ContentType: 'text/html; charset=utf-8',
    CacheControl: 'no-cache',
  });
  const service = put.find(({ Key }) => Key === 'site/console.json');
  expect(service).toMatchObject({ ContentType: 'application/json', CacheControl: 'no-cache' });
  expect(String(service?.Body)).toBe('{"api":"https://api.example.com","assistant":false}');
  const scripts = put.filter(({ Key = '' }) => Key.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(5);
  for (const { ContentType, CacheControl } of scripts) {
    expect([ContentType, CacheControl]).toEqual([
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
  }
});

test('page is not replaced when an upload of its files fails', async () => {
  s3.on(PutObjectCommand).resolves({});
  s3.on(PutObjectCommand, { ContentType: 'text/css; charset=utf-8' }).rejects(new Error('no'));
  const files = await buildConsole('https://api.example.com', false);
  await expect(uploadConsole('pages', files, { region: 'eu-west-1' })).rejects.toThrow('no');
  expect(s3.commandCalls(PutObjectCommand, { Key: 'site/index.html' })).toHaveLength(0);
});
