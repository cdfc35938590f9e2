import { beforeEach, describe, expect, test, vi } from 'vitest';
import { AppError } from '../../../shared/core/errors.ts';
import { confirmUpload } from '../../../shared/files/confirm-upload.ts';
import {
  developerAccess,
  fileItemKey,
  fileKey,
  pendingKey,
  quotaKey,
  refOf,
  type Visibility,
} from '../../../shared/files/file-items.ts';
import { partBytes } from '../../../shared/files/multipart.ts';
import { requestParts, requestUpload } from '../../../shared/files/request-upload.ts';
import { confirmCharge, expire, keepUploadId, stateOf } from '../../../shared/files/upload-states.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { useMemoryBucket } from '../../support/fixtures/memory-bucket.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';
import { projectWithKey } from '../accounts/project.ts';

const { read } = useMemoryTable();
const bucket = useMemoryBucket();
let project: Project;

beforeEach(async () => {
  project = await projectWithKey('a'.repeat(24));
});

const contentType = 'text/plain';
const request = async (size: number, rest: object = {}) => {
  const { filePath } = await requestUpload(project, { filename: 'a.txt', contentType, size, ...rest });
  return filePath;
};
const arrived = async (size: number, rest: object = {}, sent = size) => {
  const filePath = await request(size, rest);
  bucket.put(pendingKey(filePath), 'x'.repeat(sent), contentType);
  return filePath;
};
const confirm = (filePath: string, size: number, options?: Parameters<typeof confirmUpload>[3]) =>
  confirmUpload(project, filePath, size, options);
const failure = (...given: Parameters<typeof confirm>) => laterRefusalOf(confirm(...given));
const refTo = (filePath: string) => refOf(project, filePath);
const usage = () => read(quotaKey(refTo('any')));
const has = (filePath: string, visibility: Visibility = 'public') => bucket.objects.has(fileKey(filePath, visibility));

const stored = { size: 5, etag: 'e', contentType };
const owned = { owner: undefined, of: undefined, name: undefined, bounded: undefined };
/** Another request confirms the path with this size. */
const confirmedBy = (filePath: string, visibility: Visibility = 'public', size = 5) =>
  confirmCharge(refTo(filePath), { ...stored, size }, { ...owned, visibility });
const endedBy = (filePath: string, size = 5) => expire(refTo(filePath), { size, ...owned });

describe('a confirmation', () => {
  test('publishes the file and charges it one time, with its type and name', async () => {
    const filePath = await arrived(5, { filename: 'ä.txt' });
    const confirmed = {
      path: filePath,
      name: 'ä.txt',
      provider: 'internal',
      url: `https://files.example.com/${filePath}`,
    };
    expect(await confirm(filePath, 5)).toEqual(confirmed);
    expect(bucket.objects.get(fileKey(filePath, 'public'))).toMatchObject({
      size: 5,
      contentType,
      disposition: expect.stringContaining("filename*=UTF-8''%C3%A4.txt"),
    });
    bucket.state.commands = [];
    expect(await confirm(filePath, 5)).toEqual(confirmed);
    expect(bucket.state.commands).not.toContain('CopyObject');
    expect(await usage()).toEqual({ held: 5, used: 5, files: 1 });
  });

  test('of 50 at the same time charges one file', async () => {
    const filePath = await arrived(5);
    await Promise.all(Array.from({ length: 50 }, () => confirm(filePath, 5)));
    expect(await usage()).toEqual({ held: 5, used: 5, files: 1 });
    expect(has(filePath)).toBe(true);
  });

  test('of a private file has no address', async () => {
    const filePath = await arrived(5, { visibility: 'private' });
    expect(await confirm(filePath, 5)).toMatchObject({ url: null });
    expect([has(filePath), has(filePath, 'private')]).toEqual([false, true]);
  });

  test.each([
    [null, 'public', { url: null, warning: expect.stringContaining('no public host') }],
    [null, 'private', { url: null }],
    ['https://cdn.example.com', 'public', { url: expect.stringContaining('https://cdn.example.com/files/') }],
  ] as const)('in a bucket of the customer with the host %s, of a %s file', async (host, visibility, expected) => {
    project = await bucket.withOwnBucket(project, host);
    const filePath = await arrived(5, { visibility });
    const { path, name, ...rest } = await confirm(filePath, 5);
    expect(rest).toEqual({ provider: 'external', ...expected });
  });

  test('404 FILE_NOT_FOUND for an unknown path, one that expired, and one of another project', async () => {
    const filePath = await arrived(5);
    await endedBy(filePath);
    const requireConfirm = vi.fn(async () => undefined);
    expect(await failure(filePath, 5, { access: { ...developerAccess, requireConfirm } })).toMatchObject({
      code: 'FILE_NOT_FOUND',
    });
    expect(requireConfirm).not.toHaveBeenCalled();
    expect(await failure('b'.repeat(24) + filePath.slice(24), 5)).toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  test('404 for a caller who may not confirm the file', async () => {
    const filePath = await arrived(5);
    const requireConfirm = () => Promise.reject(new AppError('DOCUMENT_NOT_FOUND', 'hidden'));
    const access = { ...developerAccess, requireConfirm };
    expect(await failure(filePath, 5, { access })).toMatchObject({ code: 'DOCUMENT_NOT_FOUND' });
  });

  test('409 UPLOAD_NOT_READY before the file has arrived', async () => {
    const filePath = await request(5);
    expect(await failure(filePath, 5)).toMatchObject({ code: 'UPLOAD_NOT_READY' });
  });

  test('409 UPLOAD_NOT_READY when the file is removed meanwhile, or has an id of an upload in parts', async () => {
    const filePath = await arrived(5);
    bucket.state.before = { name: 'CopyObject', act: () => bucket.objects.delete(pendingKey(filePath)) };
    expect(await failure(filePath, 5)).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    await keepUploadId(refTo(filePath), { key: fileKey(filePath, 'public'), uploadId: 'any' });
    expect(await failure(filePath, 5)).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    bucket.put(pendingKey(filePath), 'x'.repeat(5));
    await confirm(filePath, 5);
  });

  test('400 SIZE_MISMATCH when the file, the reservation or the confirmed file has another size', async () => {
    const other = (size: number, is: number) => ({
      code: 'SIZE_MISMATCH',
      message: expect.stringContaining(`size is ${size}, but the file was uploaded, or announced, with ${is} bytes`),
    });
    const longer = await arrived(5, {}, 6);
    expect(await failure(longer, 5)).toMatchObject(other(5, 6));
    expect(await failure(longer, 6)).toMatchObject(other(6, 5));
    expect([has(longer), await stateOf(refTo(longer))]).toMatchObject([false, { kind: 'requested' }]);
    const first = await arrived(5);
    bucket.put(fileKey(first, 'public'), 'x'.repeat(4));
    expect(await failure(first, 5)).toMatchObject(other(5, 4));
    expect(has(first)).toBe(true);
    const confirmed = await arrived(5);
    await confirm(confirmed, 5);
    expect(await failure(confirmed, 7)).toMatchObject(other(7, 5));
    expect(await usage()).toEqual({ held: 15, used: 5, files: 1 });
  });

  test('keeps the first copy, and does not remove it when the reservation has another size', async () => {
    const filePath = await arrived(6, {}, 5);
    bucket.put(fileKey(filePath, 'public'), 'x'.repeat(5));
    expect(await failure(filePath, 5)).toMatchObject({ code: 'SIZE_MISMATCH' });
    expect(has(filePath)).toBe(true);
  });

  test.each<[string, (filePath: string) => Promise<unknown>, boolean, string | undefined]>([
    ['is confirmed meanwhile', (filePath) => confirmedBy(filePath), true, undefined],
    ['is confirmed and made private meanwhile', (filePath) => confirmedBy(filePath, 'private'), false, undefined],
    ['expires meanwhile', (filePath) => endedBy(filePath), false, 'FILE_NOT_FOUND'],
  ])('of a file that %s: its copy stays: %#', async (_, act, stays, code) => {
    const filePath = await arrived(5);
    bucket.state.before = { name: 'CopyObject', act: () => act(filePath) };
    const result = await confirm(filePath, 5).then(
      () => undefined,
      (error: AppError) => error.code,
    );
    expect(result).toBe(code);
    expect(has(filePath)).toBe(stays);
  });

  test('that did not copy the file leaves it to the request that made it private', async () => {
    const filePath = await arrived(5);
    bucket.put(fileKey(filePath, 'public'), 'x'.repeat(5));
    bucket.state.before = { name: 'CopyObject', act: () => confirmedBy(filePath, 'private') };
    await confirm(filePath, 5);
    expect(has(filePath)).toBe(true);
  });

  test('removes a file that it did not copy when its path has expired', async () => {
    const filePath = await arrived(5);
    bucket.put(fileKey(filePath, 'public'), 'x'.repeat(5));
    bucket.state.before = { name: 'CopyObject', act: () => endedBy(filePath) };
    expect(await failure(filePath, 5)).toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect(has(filePath)).toBe(false);
  });
});

describe('a confirmation of a file whose content is to be checked', () => {
  const mismatch = new AppError('CONTENT_TYPE_MISMATCH', 'other');

  test('checks what arrived, before it is published', async () => {
    const filePath = await arrived(5, { unproven: 1 });
    const prove = vi.fn(async () => Promise.reject(mismatch));
    expect(await failure(filePath, 5, { prove })).toMatchObject({ code: 'CONTENT_TYPE_MISMATCH' });
    expect(prove).toHaveBeenCalledWith(expect.anything(), pendingKey(filePath), expect.objectContaining({ size: 5 }));
    expect([has(filePath), await stateOf(refTo(filePath))]).toMatchObject([false, { kind: 'requested' }]);
    await confirm(filePath, 5);
  });

  test('does not check a file of a secret key', async () => {
    await confirm(await arrived(5), 5, { prove: () => Promise.reject(mismatch) });
  });
});

describe('a confirmation of an upload in parts', () => {
  const size = partBytes + 5;
  const begin = async (rest: object = {}) => {
    project = await bucket.withOwnBucket(project);
    const filePath = await request(size, rest);
    await requestParts(project, developerAccess, { filePath });
    const [upload] = [...bucket.uploads.values()];
    return { filePath, parts: upload?.parts ?? new Map<number, number>() };
  };
  const complete = async (rest: object = {}) => {
    const { filePath, parts } = await begin(rest);
    parts.set(1, partBytes).set(2, 5);
    return filePath;
  };

  test('completes it when all parts are there', async () => {
    const { filePath, parts } = await begin();
    expect(await failure(filePath, size)).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    parts.set(1, partBytes).set(2, 4);
    expect(await failure(filePath, size)).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    expect(bucket.state.commands).not.toContain('CompleteMultipartUpload');
    parts.set(2, 5);
    await confirm(filePath, size);
    expect([has(filePath), bucket.uploads.size]).toEqual([true, 0]);
    expect(await usage()).toEqual({ held: size, used: size, files: 1 });
    expect(await read(fileItemKey(refTo(filePath)))).toMatchObject({ bytes: size });
  });

  test('400 SIZE_MISMATCH for another size', async () => {
    const filePath = await complete();
    const refusal = await failure(filePath, 5);
    expect(refusal.message).toContain(`size is 5, but the file was uploaded, or announced, with ${size}`);
  });

  test('continues after the upload was completed by another request', async () => {
    const filePath = await complete();
    bucket.uploads.clear();
    expect(await failure(filePath, size)).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    bucket.objects.set(fileKey(filePath, 'public'), { ...stored, size, bytes: Buffer.alloc(0) });
    bucket.state.commands = [];
    await confirm(filePath, size);
    expect(bucket.state.commands).not.toContain('CompleteMultipartUpload');
  });

  test('that is refused, because the object exists, leaves the object to the request that made it private', async () => {
    const filePath = await complete();
    bucket.objects.set(fileKey(filePath, 'public'), { ...stored, size, bytes: Buffer.alloc(0) });
    const act = () => confirmedBy(filePath, 'private', size);
    bucket.state.before = { name: 'CompleteMultipartUpload', act };
    await confirm(filePath, size);
    expect(has(filePath)).toBe(true);
  });

  test.each<[string, AppError, (filePath: string) => unknown, boolean, string | undefined]>([
    ['is of another type', new AppError('CONTENT_TYPE_MISMATCH', 'other'), () => undefined, false, undefined],
    ['cannot be read', new AppError('STORAGE_UNAVAILABLE', 'down'), () => undefined, true, 'requested'],
    [
      'is of another type, but confirmed meanwhile',
      new AppError('CONTENT_TYPE_MISMATCH', 'other'),
      (filePath) => confirmedBy(filePath, 'private', size),
      true,
      'confirmed',
    ],
  ])('of a user, whose content %s', async (_, error, meanwhile, stays, kind) => {
    const filePath = await complete({ unproven: 1, visibility: 'private' });
    const prove = vi.fn(async () => {
      await meanwhile(filePath);
      throw error;
    });
    expect(await failure(filePath, size, { prove })).toMatchObject({ code: error.code });
    const key = fileKey(filePath, 'private');
    expect(prove).toHaveBeenCalledWith(expect.anything(), key, expect.objectContaining({ size }));
    expect(has(filePath, 'private')).toBe(stays);
    expect((await stateOf(refTo(filePath)))?.kind).toBe(kind);
  });

  test('of a user checks the content only when all parts are there, and of a secret key never', async () => {
    const prove = vi.fn(async () => undefined);
    const { filePath, parts } = await begin({ unproven: 1, visibility: 'private' });
    expect(await failure(filePath, size, { prove })).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    expect(prove).not.toHaveBeenCalled();
    parts.set(1, partBytes).set(2, 5);
    await confirm(filePath, size, { prove });
    expect(prove).toHaveBeenCalledTimes(1);
    await confirm(await complete(), size, { prove });
    expect(prove).toHaveBeenCalledTimes(1);
  });
});
