import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handler as confirmUpload } from '../../../functions/storage/confirm-upload.ts';
import { handler as deleteFile } from '../../../functions/storage/delete-file.ts';
import { handler as requestUpload } from '../../../functions/storage/request-upload.ts';
import { clock } from '../../../shared/core/clock.ts';
import { sweepUploads } from '../../../shared/files/cleanup.ts';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { promisedMs } from '../../support/data/promised.ts';
import { FaultProxy } from '../../support/faults/proxy.ts';
import { type Confirmed, put, type Requested, read } from '../../support/fixtures/files.ts';
import { useOwnTable } from '../../support/fixtures/own-table.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

process.env.RATE_LIMIT = '1000000';

let project: TestProject;
let proxy: FaultProxy;

beforeAll(async () => {
  // Handlers of this process, and the URLs they sign, go through the proxy.
  proxy = await FaultProxy.start({ port: Number(new URL(process.env.AWS_ENDPOINT_URL_S3 ?? '').port) });
  process.env.AWS_ENDPOINT_URL_S3 = `http://127.0.0.1:${proxy.port}`;
  // The cleanup would find entries of other tests in the shared table.
  await useOwnTable();
  project = await newProject();
});

afterEach(() => proxy.heal());

afterAll(() => proxy.close());

const request = async (): Promise<Requested> => {
  const body = { filename: 'a.txt', contentType: 'text/plain', size: 5 };
  const answer = await invoke(requestUpload, { key: project.secretKey, body });
  expect(answer.status).toBe(200);
  return answer.body as unknown as Requested;
};

const uploaded = async (): Promise<string> => {
  const { signedUrl, filePath } = await request();
  expect(await put(signedUrl, 'hello')).toBe(200);
  return filePath;
};

const confirm = (filePath: string) => invoke(confirmUpload, { key: project.secretKey, body: { filePath, size: 5 } });
const remove = (path: string) => invoke(deleteFile, { key: project.secretKey, body: { path } });

const usage = async () => {
  const { used, held } = await storageUsage({ ...storageProject(), id: project.id });
  return { used, held };
};

const expectUnavailable = async (act: () => ReturnType<typeof confirm>): Promise<void> => {
  const begin = performance.now();
  const { status, headers, body } = await act();
  expect({ status, code: body.code, retryAfter: headers.get('retry-after') }).toEqual({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
    retryAfter: expect.stringMatching(/^\d+$/),
  });
  expect(performance.now() - begin).toBeLessThan(promisedMs);
};

const faults: readonly (readonly [string, () => Promise<unknown> | undefined])[] = [
  ['refuses connections', () => proxy.refuse()],
  ['hangs', async () => proxy.hang()],
];

describe.each(faults)('in bounded time when the storage %s', (_what, fail) => {
  test('503 SERVICE_UNAVAILABLE for a confirmation, which charges nothing and works later', async () => {
    const filePath = await uploaded();
    const { used, held } = await usage();
    await fail();
    await expectUnavailable(() => confirm(filePath));
    await proxy.heal();
    expect(await usage()).toEqual({ used, held });
    const confirmed = await confirm(filePath);
    expect(confirmed.status).toBe(200);
    expect((await read((confirmed.body as unknown as Confirmed).url)).text).toBe('hello');
    expect(await usage()).toEqual({ used: used + 5, held });
  });

  test('200 for a deletion, which refunds the quota; the cleanup removes the bytes', async () => {
    const filePath = await uploaded();
    const confirmed = (await confirm(filePath)).body as unknown as Confirmed;
    const { used, held } = await usage();
    await fail();
    const begin = performance.now();
    expect(await remove(filePath)).toMatchObject({ status: 200, body: { message: 'File deleted successfully' } });
    expect(performance.now() - begin).toBeLessThan(promisedMs);
    expect(await usage()).toEqual({ used: used - 5, held: held - 5 });
    await proxy.heal();
    expect((await remove(filePath)).status).toBe(404);
    const realNow = clock.now;
    clock.now = () => realNow() + 20 * 60_000;
    try {
      await sweepUploads();
    } finally {
      clock.now = realNow;
    }
    expect((await read(confirmed.url)).status).toBe(404);
  });

  test('200 for an upload request, which does not use the storage', async () => {
    await fail();
    await request();
  });
});
