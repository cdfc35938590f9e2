import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { eventually } from '../support/clients/eventually.ts';
import { HttpProxy } from '../support/faults/http-proxy.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';
import { asServer } from './shop.ts';

const MiB = 1024 * 1024;
const size = 101 * MiB;

let project: UsersProject;
let folder: string;
let file: Blob;
let proxy: HttpProxy;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'basalt-parts-'));
  const content = Buffer.alloc(size, 'x');
  for (let at = 0; at < size; at += MiB) content.writeUInt32BE(at, at);
  await writeFile(path.join(folder, 'large.bin'), content);
  file = await openAsBlob(path.join(folder, 'large.bin'), { type: 'video/mp4' });
  project = await newUsersProject();
  const place = inject('externalS3');
  const connected = await project.developer.dashboard('PUT', `/api/projects/${project.id}/storage`, { ...place });
  expect(connected.status).toBe(200);
  // Processes cache a project for a few seconds.
  await eventually(async () => {
    const body = { filename: 'a', contentType: 'a/b', size: 1 };
    const answer = await project.api<{ signedUrl: string }>('POST', '/api/storage/upload-request', { body });
    expect(answer.body.signedUrl).toContain(place.endpoint);
  });
  proxy = await HttpProxy.start(inject('stack').baseUrl);
});

afterAll(async () => {
  await proxy.close();
  await rm(folder, { recursive: true, force: true });
});

/** Uploads or resumes the file in a process that is killed after `share` of it is uploaded. */
const killedUpload = async (share: number, resume?: string): Promise<string> => {
  const text = JSON.stringify;
  const script = `
    import { openAsBlob } from 'node:fs';
    import { basalt } from ${text(path.resolve('client/src/index.ts'))};
    const app = basalt(${text(inject('stack').baseUrl)}, ${text(project.secretKey)});
    await app.files.upload(await openAsBlob(${text(path.join(folder, 'large.bin'))}), {
      filename: 'large.bin',
      ${resume === undefined ? '' : `resume: ${text(resume)},`}
      onPath: (path) => process.stdout.write(path),
      onProgress: (share) => share >= ${share} && process.kill(process.pid, 'SIGKILL'),
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
  return said;
};

describe('file over 100 MiB', () => {
  test('is uploaded in parts to an external bucket and resumed after its process was killed twice', async () => {
    const begun = await killedUpload(0.2);
    expect(await killedUpload(0.5, begun)).toBe(begun);
    const puts: number[] = [];
    const counting: typeof fetch = (address, init) => {
      if (init?.method === 'PUT') puts.push((init.body as Blob).size);
      return fetch(address, init);
    };
    const shares: number[] = [];
    const app = asServer(project, proxy.url, { fetch: counting });
    const lost = new Set<string>();
    proxy.meet(({ path: asked }) => {
      if (lost.has(asked)) return undefined;
      lost.add(asked);
      return 'lose the answer';
    });
    const stored = await app.files.upload(file, { resume: begun, onProgress: (share) => shares.push(share) });
    expect(stored.path).toBe(begun);
    expect(puts.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(size / 2);
    expect(shares[0]).toBeGreaterThanOrEqual(0.5);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
    const found = await fetch(stored.url ?? '');
    const content = Buffer.from(await found.arrayBuffer());
    expect(content.equals(Buffer.from(await file.arrayBuffer()))).toBe(true);
  });

  test('cannot be resumed with another file, or after it was deleted', async () => {
    const app = asServer(project);
    const begun = await killedUpload(0.1);
    const other = new Blob(['x']);
    await expect(app.files.upload(other, { resume: begun })).rejects.toMatchObject({ code: 'SIZE_MISMATCH' });
    await app.files.delete(begun);
    await expect(app.files.upload(file, { resume: begun })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  test('stops uploading when it is aborted', async () => {
    const abort = new AbortController();
    const onProgress = (share: number): void => {
      if (share > 0.1) abort.abort();
    };
    const upload = asServer(project).files.upload(file, { signal: abort.signal, onProgress });
    await expect(upload).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('is rejected by the hosted storage', async () => {
    const managed = asServer(await newUsersProject());
    await expect(managed.files.upload(file)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
  });
});
