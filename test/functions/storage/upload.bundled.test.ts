import { beforeAll, describe, expect, test, vi } from 'vitest';
import { managedBucket } from '../../../shared/files/bucket.ts';
import { fileKey } from '../../../shared/files/file-items.ts';
import { requestUpload } from '../../../shared/files/request-upload.ts';
import { publishedClient, refusedAs } from '../../support/clients/published-client.ts';
import { confirm, put, read, remove, request, uploaded, uploadFile } from '../../support/fixtures/files.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

let project: TestProject;
let other: TestProject;

beforeAll(async () => {
  const developer = await newDeveloper();
  [project, other] = await Promise.all([newProject([], developer), newProject([], developer)]);
});

const MiB = 1024 * 1024;

describe('an upload', () => {
  test('is public after request, PUT and confirmation', async () => {
    const requested = await request(project, 5, 'summer photo (1).txt');
    expect(requested).toMatchObject({ status: 200, body: { signedUrl: expect.any(String) } });
    const { signedUrl, filePath } = requested.body;
    expect(Object.keys(requested.body).sort()).toEqual(['filePath', 'name', 'signedUrl']);
    expect(filePath).toMatch(new RegExp(`^${project.id}/[0-9a-f-]{36}_summer_photo__1_\\.txt$`));
    expect(await put(signedUrl, 'hello')).toBe(200);
    const confirmed = await confirm(project, filePath, 5);
    expect(confirmed).toMatchObject({
      status: 200,
      body: { message: 'Upload confirmed', path: filePath, provider: 'internal', url: expect.stringMatching(/^http/) },
    });
    expect(Object.keys(confirmed.body).sort()).toEqual(['message', 'name', 'path', 'provider', 'url']);
    expect(await read(confirmed.body.url)).toEqual({ status: 200, text: 'hello' });
  });

  test('is not public before its confirmation', async () => {
    const { url } = await uploadFile(project, 'seen');
    const { filePath } = await uploaded(project, 'unseen');
    const address = (url ?? '').slice(0, (url ?? '').indexOf(project.id)) + filePath;
    expect((await read(address)).status).toBe(404);
    expect((await confirm(project, filePath, 6)).body.url).toBe(address);
    expect((await read(address)).text).toBe('unseen');
  });

  test('keeps its content type and no other header of the PUT', async () => {
    const { signedUrl, filePath } = (await request(project, 4, 'a.png', 'image/png')).body;
    const headers = {
      'content-type': 'image/png',
      'content-disposition': 'inline; filename=x',
      'cache-control': 'max-age=1',
    };
    expect((await fetch(signedUrl, { method: 'PUT', headers, body: '1234' })).status).toBe(200);
    const { url } = (await confirm(project, filePath, 4)).body;
    const file = await fetch(url ?? '');
    expect(file.headers.get('content-type')).toBe('image/png');
    expect(file.headers.get('content-disposition') ?? '').not.toContain('filename=x');
    expect(file.headers.get('cache-control')).not.toBe('max-age=1');
  });

  test('may have exactly 10 MiB', async () => {
    const bytes = Buffer.alloc(10 * MiB, 7);
    const { url } = await uploadFile(project, bytes, 'application/octet-stream');
    const file = await (await fetch(url ?? '')).arrayBuffer();
    expect(Buffer.from(file).equals(bytes)).toBe(true);
  });
});

describe('the storage', () => {
  test('403 for a PUT more than ten minutes after the request', async () => {
    const of = storageProject();
    const body = { filename: 'a.txt', contentType: 'text/plain', size: 5 };
    const requestedAgo = async (seconds: number): Promise<string> => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - seconds * 1000 });
      return (await requestUpload(of, body).finally(() => vi.useRealTimers())).signedUrl;
    };
    expect(await put(await requestedAgo(602), 'hello')).toBe(403);
    expect(await put(await requestedAgo(500), 'hello')).toBe(200);
  });

  test.each([
    ['another content type', 'text/html', 'hello'],
    ['a larger body', 'text/plain', 'hello and more'],
    ['a smaller body', 'text/plain', 'hell'],
  ])('403 for %s than declared', async (_what, contentType, body) => {
    const { signedUrl, filePath } = (await request(project, 5)).body;
    expect(await put(signedUrl, body, contentType)).toBe(403);
    expect((await confirm(project, filePath, 5)).status).toBe(409);
    expect(await put(signedUrl, 'hello')).toBe(200);
    expect((await confirm(project, filePath, 5)).status).toBe(200);
  });

  test('403 for a URL that was changed, to another path or time', async () => {
    const { signedUrl } = (await request(project, 5)).body;
    for (const changed of [
      signedUrl.replace('notes.txt', 'other.txt'),
      signedUrl.replace('/pending/', '/files/'),
      signedUrl.replace(project.id, other.id),
      signedUrl.replace('X-Amz-Expires=600', 'X-Amz-Expires=6000'),
    ]) {
      expect(changed).not.toBe(signedUrl);
      expect(await put(changed, 'hello')).toBe(403);
    }
  });
});

describe('a confirmed file', () => {
  test('is not changed by later PUTs, and a repeated confirmation returns the same', async () => {
    const { signedUrl, filePath } = await uploaded(project, 'first');
    const first = await confirm(project, filePath, 5);
    expect(await put(signedUrl, 'other')).toBe(200);
    const again = await confirm(project, filePath, 5);
    expect(again.body).toEqual(first.body);
    expect((await read(first.body.url)).text).toBe('first');
  });

  test('stays deleted after its deletion', async () => {
    const { signedUrl, filePath } = await uploaded(project, 'hello');
    const { url } = (await confirm(project, filePath, 5)).body;
    expect(await remove(project, filePath)).toMatchObject({
      status: 200,
      body: { success: true, data: {}, message: 'File deleted successfully' },
    });
    expect((await read(url)).status).toBe(404);
    expect((await confirm(project, filePath, 5)).status).toBe(404);
    expect(await put(signedUrl, 'hello')).toBe(200);
    expect((await confirm(project, filePath, 5)).status).toBe(404);
    expect((await read(url)).status).toBe(404);
    expect((await remove(project, filePath)).status).toBe(404);
  });
});

describe('a confirmation', () => {
  test('409 UPLOAD_NOT_READY before the file has arrived, also with another size; it works later', async () => {
    const { signedUrl, filePath } = (await request(project, 5)).body;
    for (const size of [5, 6]) {
      expect(await confirm(project, filePath, size)).toMatchObject({
        status: 409,
        body: { success: false, code: 'UPLOAD_NOT_READY', message: expect.any(String) },
      });
    }
    expect(await put(signedUrl, 'hello')).toBe(200);
    expect((await confirm(project, filePath, 5)).status).toBe(200);
  });

  test.each([4, 6])('400 SIZE_MISMATCH for %i bytes instead of 5, before and after the confirmation', async (size) => {
    const { filePath } = await uploaded(project, 'hello');
    const refused = { status: 400, body: { code: 'SIZE_MISMATCH', errors: [{ field: 'size' }] } };
    expect(await confirm(project, filePath, size)).toMatchObject(refused);
    expect(await managedBucket.head(fileKey(filePath, 'public')), 'what is public').toBeNull();
    expect((await confirm(project, filePath, 5)).status).toBe(200);
    expect(await confirm(project, filePath, size)).toMatchObject(refused);
  });
});

const uuid = '0192f0c4-7b1a-7c3e-8a2b-1234567890ab';

describe('404 FILE_NOT_FOUND for a path that', () => {
  const paths: readonly (readonly [string, () => string])[] = [
    ['was never given out', () => `${project.id}/${uuid}_a.txt`],
    ['has no project', () => `${uuid}_a.txt`],
    ['is of a project that does not exist', () => `${'f'.repeat(24)}/${uuid}_a.txt`],
    ['begins like one of the project', () => `${project.id}0/${uuid}_a.txt`],
    ['has no uuid', () => `${project.id}/a.txt`],
    ['climbs', () => `${project.id}/${uuid}_../../${other.id}/a`],
    ['climbs by name', () => `${project.id}/${uuid}_..`],
    ['climbs by encoding', () => `${project.id}/${uuid}_%2e%2e%2fa`],
    ['begins with a slash', () => `/${project.id}/${uuid}_a.txt`],
    ['names the place of pending uploads', () => `pending/${project.id}/${uuid}_a.txt`],
    ['is in capitals', () => `${project.id}/${uuid.toUpperCase()}_a.txt`],
    ['has a line break', () => `${project.id}/${uuid}_a.txt\n`],
    ['has a NUL', () => `${project.id}/${uuid}_a\0.txt`],
    ['has a right-to-left mark', () => `${project.id}/${uuid}_a\u202etxt.exe`],
    ['has 10 000 characters', () => `${project.id}/${uuid}_${'a'.repeat(10_000)}`],
    ['is a URL', () => `http://127.0.0.1/${project.id}/${uuid}_a.txt`],
  ];

  test.each(paths)('%s', async (_what, path) => {
    const refused = { status: 404, body: { success: false, code: 'FILE_NOT_FOUND' } };
    expect(await confirm(project, path(), 5)).toMatchObject(refused);
    expect(await remove(project, path())).toMatchObject(refused);
  });

  test('belongs to another project, which keeps its upload and its file', async () => {
    const { filePath } = await uploaded(other, 'theirs');
    expect((await confirm(project, filePath, 6)).status).toBe(404);
    expect((await remove(project, filePath)).status).toBe(404);
    const { url } = (await confirm(other, filePath, 6)).body;
    expect((await confirm(project, filePath, 6)).status).toBe(404);
    expect((await remove(project, filePath)).status).toBe(404);
    expect((await read(url)).text).toBe('theirs');
  });

  test('is not confirmed, when it is deleted', async () => {
    const { filePath } = await uploaded(project, 'hello');
    expect((await remove(project, filePath)).status).toBe(404);
    expect((await confirm(project, filePath, 5)).status).toBe(200);
  });
});

const notStrings = [undefined, null, '', 7, true, ['a'], { $ne: null }, { $regex: '.' }];
const notSizes = [undefined, null, '5', 0, -1, 1.5, 2 ** 53, true, [5], { $gt: 0 }];
const sampleRequest = { filename: 'a.txt', contentType: 'text/plain', size: 5 };
const sampleConfirm = { filePath: 'a', size: 5 };

describe('400 naming the field', () => {
  const cases = [
    ...notStrings.map(
      (value) => ['POST', 'upload-request', 'filename', { ...sampleRequest, filename: value }] as const,
    ),
    ...[
      ...notStrings,
      'text',
      'text/',
      '/plain',
      'text/plain\r\nx: y',
      'text/plain; charset',
      'text/plain,text/html',
      'text/plain;charset=x,text/html',
      'text/plain;charset="x",text/html',
      `a/${'b'.repeat(200)}`,
      'té/xt',
      'a/b\u202e',
    ].map((value) => ['POST', 'upload-request', 'contentType', { ...sampleRequest, contentType: value }] as const),
    ...notSizes.map((value) => ['POST', 'upload-request', 'size', { ...sampleRequest, size: value }] as const),
    ...notStrings.map(
      (value) => ['POST', 'upload-confirm', 'filePath', { ...sampleConfirm, filePath: value }] as const,
    ),
    ...notSizes.map((value) => ['POST', 'upload-confirm', 'size', { ...sampleConfirm, size: value }] as const),
    ...notStrings.map((value) => ['DELETE', 'file', 'path', { path: value }] as const),
  ];

  test.each(cases)('%s %s: %s in %j', async (method, path, field, body) => {
    const answer = await project.api<{ code: string; message: string }>(method, `/api/storage/${path}`, { body });
    expect(answer.status).toBe(400);
    if (answer.body.code !== 'NUMBER_NOT_EXACT') {
      expect(answer.body).toMatchObject({
        code: 'VALIDATION_FAILED',
        errors: expect.arrayContaining([expect.objectContaining({ field })]),
      });
      expect(answer.body.message).toContain(field);
    }
  });

  test.each(['', '[]', '"a"', '{'])('for the body %j', async (body) => {
    for (const [method, path] of [
      ['POST', 'upload-request'],
      ['POST', 'upload-confirm'],
      ['DELETE', 'file'],
    ] as const) {
      expect((await project.api(method, `/api/storage/${path}`, { body })).status).toBe(400);
    }
  });
});

describe('a request for an upload', () => {
  test('400 VALIDATION_FAILED for an unknown field', async () => {
    const body = { ...sampleRequest, visiblity: 'private' };
    const answer = await project.api('POST', '/api/storage/upload-request', { body });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ field: 'visiblity' }] },
    });
    expect(answer.body.message).toContain('visiblity');
  });

  test.each([10 * MiB + 1, Number.MAX_SAFE_INTEGER])('413 FILE_TOO_LARGE for %i bytes', async (size) => {
    expect(await request(project, size)).toMatchObject({ status: 413, body: { code: 'FILE_TOO_LARGE' } });
  });

  test.each([
    ['climbs', '../../etc/passwd', '._._etc_passwd'],
    ['is two dots', '..', '.'],
    ['climbs the other way', 'a\\..\\b', 'a_._b'],
    ['has control characters', 'a\0b\r\nc', 'a_b__c'],
    ['has a right-to-left mark', 'photo\u202egnp.exe', 'photo_gnp.exe'],
    ['is not Latin', 'привет 😀.png', '________.png'],
    ['is HTML', '<script>.html', '_script_.html'],
    ['has 10 000 characters', `${'a'.repeat(9996)}.png`, `${'a'.repeat(96)}.png`],
    ['looks like an operator', '$ne', '_ne'],
    ['looks like a prototype', '__proto__', '__proto__'],
  ])('makes a safe path when the name %s', async (_what, filename, name) => {
    const { status, body } = await request(project, 5, filename);
    expect({ status, name: body.filePath.slice(project.id.length + 1 + 37) }).toEqual({ status: 200, name });
    expect(await put(body.signedUrl, 'hello')).toBe(200);
    expect(await read((await confirm(project, body.filePath, 5)).body.url)).toEqual({ status: 200, text: 'hello' });
  });

  test.each([
    'text/plain; charset=utf-8',
    'text/plain;charset=utf-8',
    'application/vnd.api+json',
    'multipart/x; boundary="a b"',
    'video/webm;codecs=vp8,opus',
    'video/webm; codecs="vp8, opus"',
  ])('accepts the content type %s', async (contentType) => {
    const { signedUrl, filePath } = (await request(project, 5, 'a', contentType)).body;
    expect(await put(signedUrl, 'hello', contentType)).toBe(200);
    const { url } = (await confirm(project, filePath, 5)).body;
    expect((await fetch(url ?? '')).headers.get('content-type')).toBe(contentType);
  });
});

describe('the published JavaScript client', () => {
  test('uploads and deletes files', async () => {
    const client = publishedClient(project.secretKey);
    const file = new File(['hello world'], 'greeting.txt', { type: 'text/plain' });
    const { path, url, provider } = await client.storage.upload(file);
    expect({ provider, name: path.split('_').pop() }).toEqual({ provider: 'internal', name: 'greeting.txt' });
    expect((await read(url)).text).toBe('hello world');
    await client.storage.deleteFile(path);
    expect((await read(url)).status).toBe(404);
    await expect(client.storage.deleteFile(path)).rejects.toMatchObject(refusedAs('NotFoundError'));
  });

  test('uploads buffers under generated names', async () => {
    const { path, url } = await publishedClient(project.secretKey).storage.upload(Buffer.from('bytes'), 'a b.bin');
    expect(path).toMatch(/_a_b\.bin$/);
    expect((await read(url)).text).toBe('bytes');
  });

  test('403 with a message that it needs the secret key', async () => {
    const client = publishedClient(project.publishableKey);
    await expect(client.storage.upload(Buffer.from('bytes'))).rejects.toMatchObject(refusedAs('AuthError'));
    await expect(client.storage.deleteFile('a')).rejects.toMatchObject(refusedAs('AuthError'));
  });
});
