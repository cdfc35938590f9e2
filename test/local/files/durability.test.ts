import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '../../support/clients/free-ports.ts';
import { FaultyService } from '../../support/faults/faulty-service.ts';

const Bucket = 'basalt-files';

let directory: string;
let files: FaultyService;
let filesUrl: string;
let s3: S3Client;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-kept-'));
  const port = await freePorts();
  files = await FaultyService.files(directory, port);
  filesUrl = `http://127.0.0.1:${port + 6}`;
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const endpoint = `http://127.0.0.1:${files.proxy.port}`;
  s3 = new S3Client({ endpoint, region: 'eu-west-1', credentials, forcePathStyle: true, maxAttempts: 1 });
});

afterAll(async () => {
  s3.destroy();
  await files.stop();
  await rm(directory, { recursive: true, force: true });
});

const put = (name: string, Body: string) =>
  s3.send(new PutObjectCommand({ Bucket, Key: `files/p/${name}`, Body, ContentType: 'text/plain' }));

const read = async (name: string): Promise<string> => {
  const answer = await fetch(`${filesUrl}/p/${name}`);
  const body = await answer.text();
  return answer.ok ? body : String(answer.status);
};

test('acknowledged files exist when the store was killed during writes', async () => {
  const acknowledged: string[] = [];
  let killed: Promise<void> | undefined;
  const writing = (async () => {
    for (let index = 0; ; index++) {
      await put(`${index}.txt`, `content ${index}`);
      acknowledged.push(`${index}.txt`);
      if (acknowledged.length === 20) killed = files.kill();
    }
  })();
  await expect(writing).rejects.toThrow();
  await killed;
  await files.restart();
  expect(acknowledged.length).toBeGreaterThanOrEqual(20);
  for (const [index, name] of acknowledged.entries()) expect(await read(name)).toBe(`content ${index}`);
});

test('partly written files are gone when the store restarts', async () => {
  await put('whole.txt', 'whole');
  for (const name of ['cut.txt', 'bare.txt']) await put(name, 'something');
  await files.kill();
  const folder = path.join(directory, 'files/buckets', Bucket, 'objects/files/p');
  await truncate(path.join(folder, 'cut.txt.data'), 3);
  await writeFile(path.join(folder, 'bare.txt.meta.json'), '{"key":');
  await files.restart();
  expect([await read('whole.txt'), await read('cut.txt'), await read('bare.txt')]).toEqual(['whole', '404', '404']);
  expect((await readdir(folder)).filter((name) => /^(cut|bare)/.test(name))).toEqual([]);
});
