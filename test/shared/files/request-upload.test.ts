import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  developerAccess,
  type FileAccess,
  fileItemKey,
  nameIn,
  pendingKey,
  quotaKey,
  refOf,
  uploadKey,
  userQuotaKey,
} from '../../../shared/files/file-items.ts';
import { maxMultipartBytes, partBytes } from '../../../shared/files/multipart.ts';
import { requestParts, requestUpload, requestUserUpload } from '../../../shared/files/request-upload.ts';
import { confirmCharge, expire, stateOf } from '../../../shared/files/upload-states.ts';
import { JsonClient } from '../../../shared/persistence/aws-client.ts';
import {
  acquireKey,
  keyedRequest,
  noteFailure,
  type Run,
  recordResponse,
} from '../../../shared/persistence/idempotency.ts';
import { plans } from '../../../shared/projects/plans.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { useMemoryBucket } from '../../support/fixtures/memory-bucket.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';
import { projectWithKey } from '../accounts/project.ts';

const { time, faults, read, put } = useMemoryTable();
const bucket = useMemoryBucket();
const projectId = 'a'.repeat(24);
const userId = 'b'.repeat(24);
const MiB = 1024 * 1024;
const { storageBytes, userStorageBytes, userFiles, userReservations } = plans.free;
let project: Project;
let external: Project;

beforeEach(async () => {
  project = await projectWithKey(projectId);
  external = await bucket.withOwnBucket(project);
});

const textOf = (size: number) => ({ filename: 'a.txt', contentType: 'text/plain', size });
const request = (size: number, rest: object = {}, run?: Run) =>
  requestUpload(project, { ...textOf(size), ...rest }, run);
const requestAs = (user: string | undefined, size: number, rest: object = {}) =>
  requestUserUpload(project, user, { ...textOf(size), ...rest });
const stored = (filePath: string, of = project) => stateOf(refOf(of, filePath));
const itemOf = (filePath: string) => read(uploadKey(refOf(project, filePath)));
const urlOf = ({ signedUrl }: { readonly signedUrl: string }) => new URL(signedUrl);
const secondsOf = (requested: { readonly signedUrl: string }) =>
  Number(urlOf(requested).searchParams.get('X-Amz-Expires'));
const unlimited = (change: object) => ({ ...external, ...change });

describe('a requested upload', () => {
  test('reserves its size, and its URL is for these bytes and 10 minutes', async () => {
    const requested = await request(7);
    expect(requested).toMatchObject({ filePath: expect.stringMatching(`^${projectId}/.*_a.txt$`), name: 'a.txt' });
    expect(urlOf(requested).pathname).toContain(pendingKey(requested.filePath));
    expect(secondsOf(requested)).toBe(600);
    expect(await stored(requested.filePath)).toMatchObject({ kind: 'requested', size: 7, visibility: 'public' });
    expect(await itemOf(requested.filePath)).not.toHaveProperty('visibility');
    expect(await read(quotaKey(refOf(project, 'any')))).toEqual({ held: 7 });
    const sent = vi.mocked(JsonClient.prototype.send);
    sent.mockClear();
    await request(7);
    expect(sent.mock.calls.map(([name]) => name)).toEqual(['TransactWriteItems']);
  });

  test.each([
    ['a.txt', undefined, 'a.txt'],
    ['ä.txt', 'ä.txt', 'ä.txt'],
    ['\u202e', undefined, '_'],
  ])('of %s stores the name %s and shows %s', async (filename, name, shown) => {
    const { filePath, name: returned } = await request(1, { filename });
    expect((await itemOf(filePath))?.name).toBe(name);
    expect(returned).toBe(shown);
  });

  test('is private if asked for', async () => {
    const { filePath } = await request(1, { visibility: 'private' });
    expect(await itemOf(filePath)).toMatchObject({ visibility: 'private' });
  });

  test('413 FILE_TOO_LARGE over 10 MiB, but not in a bucket of the customer', async () => {
    await request(10 * MiB);
    expect(await laterRefusalOf(request(10 * MiB + 1))).toMatchObject({ code: 'FILE_TOO_LARGE' });
    const { filePath } = await requestUpload(external, textOf(10 * MiB + 1));
    expect(await stored(filePath, external)).toMatchObject({ size: 10 * MiB + 1 });
  });

  test('403 STORAGE_QUOTA_EXCEEDED from the first byte over the plan', async () => {
    await put({ ...quotaKey(refOf(project, 'any')), held: storageBytes - 5 });
    const refusal = await laterRefusalOf(request(6));
    expect(refusal).toMatchObject({ code: 'STORAGE_QUOTA_EXCEEDED', message: expect.stringContaining('20 MiB') });
    await request(5);
    expect(await laterRefusalOf(request(1))).toMatchObject({ code: 'STORAGE_QUOTA_EXCEEDED' });
  });

  test('of 50 at the same time fills the storage exactly', async () => {
    await put({ ...quotaKey(refOf(project, 'any')), held: storageBytes - 10 });
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => request(1)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(await read(quotaKey(refOf(project, 'any')))).toEqual({ held: storageBytes });
  });
});

describe('an upload of a user', () => {
  const has = (values: object) => put({ ...userQuotaKey(refOf(project, 'any'), userId), ...values });
  const allowed = { users: true, maxBytes: 5, types: ['text/*'] };

  test('is private, bounded and unproven, unless it is public', async () => {
    const { filePath } = await requestAs(userId, 3);
    expect(await itemOf(filePath)).toMatchObject({ owner: userId, visibility: 'private', unproven: 1, bounded: 1 });
    expect(await itemOf((await requestAs(userId, 3, { visibility: 'public' })).filePath)).not.toHaveProperty(
      'visibility',
    );
    expect(await read(userQuotaKey(refOf(project, 'any'), userId))).toMatchObject({ held: 6, files: 2 });
  });

  test('413 FILE_TOO_LARGE over the maximum of the project, and 400 VALIDATION_FAILED for another type', async () => {
    project = { ...project, uploads: allowed };
    await requestAs(userId, 5);
    expect(await laterRefusalOf(requestAs(userId, 6))).toMatchObject({ code: 'FILE_TOO_LARGE' });
    expect(await laterRefusalOf(requestAs(userId, 5, { contentType: 'image/png' }))).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ field: 'contentType' }],
    });
  });

  test.each<[string, object, string]>([
    ['no byte left', { held: userStorageBytes - 4 }, '10 MiB together'],
    ['no file left', { files: userFiles }, `${userFiles} files, including`],
    ['no reservation left', { reservations: userReservations }, `${userReservations} uploads that are not confirmed`],
    ['neither', { files: userFiles, reservations: userReservations }, `${userReservations} uploads`],
  ])('403 USER_QUOTA_EXCEEDED with %s', async (_, values, message) => {
    await has(values);
    const refusal = await laterRefusalOf(requestAs(userId, 5));
    expect(refusal).toMatchObject({ code: 'USER_QUOTA_EXCEEDED' });
    expect(refusal.message).toContain(message);
  });

  test('fits when one is left of each', async () => {
    await has({ held: userStorageBytes - 5, files: userFiles - 1, reservations: userReservations - 1 });
    await requestAs(userId, 5);
    expect(await read(userQuotaKey(refOf(project, 'any'), userId))).toEqual({
      held: userStorageBytes,
      files: userFiles,
      reservations: userReservations,
    });
  });

  test('in the bucket of a customer has no limit of bytes, and five times the reservations', async () => {
    project = unlimited({ uploads: { users: true, maxBytes: 2 * userStorageBytes, types: ['*/*'] } });
    const key = userQuotaKey(refOf(project, 'any'), userId);
    await put({ ...key, held: 10 * userStorageBytes, reservations: 5 * userReservations - 1 });
    await requestAs(userId, userStorageBytes + 1);
    const refusal = await laterRefusalOf(requestAs(userId, 1));
    expect(refusal.message).toContain(`${5 * userReservations} uploads`);
  });
});

describe('a request with an Idempotency-Key', () => {
  const keyed = keyedRequest('caller', 'key', ['POST', '/', '']);
  const acquire = async (): Promise<Run> => {
    const state = await acquireKey(projectId, keyed, true);
    if (!('run' in state)) throw new Error(state.kind);
    return state.run;
  };
  const again = async (run: Run): Promise<Run> => {
    await noteFailure(run, { nothingDone: false });
    return acquire();
  };
  const answered = async (run: Run): Promise<Run> => {
    await recordResponse(run, { status: 200, headers: '{}', body: '', stored: undefined });
    return acquire();
  };

  test('that is repeated reserves one time, and its URL ends with the reservation', async () => {
    const run = await acquire();
    const first = await request(7, {}, run);
    expect(secondsOf(first)).toBe(600);
    time.now += 5000;
    const second = await request(7, {}, await again(run));
    expect(second.filePath).toBe(first.filePath);
    expect(secondsOf(second)).toBe(595);
    expect(await read(quotaKey(refOf(project, 'any')))).toEqual({ held: 7 });
  });

  test('that did nothing yet reserves in its next run', async () => {
    const { filePath } = await request(7, {}, await again(await acquire()));
    expect(await stored(filePath)).toMatchObject({ kind: 'requested' });
  });

  test('of an external storage, whose reservation lasts a day, gets 10 minutes again', async () => {
    project = external;
    const run = await acquire();
    await request(7, {}, run);
    time.now += 60_000;
    expect(secondsOf(await request(7, {}, await again(run)))).toBe(600);
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN with less than 30 s left, after the confirmation, and after the end', async () => {
    const run = await acquire();
    const { filePath } = await request(7, {}, run);
    time.now += 570_000;
    const next = await again(run);
    expect(secondsOf(await request(7, {}, next))).toBe(30);
    time.now += 1;
    const unknown = { code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' };
    expect(await laterRefusalOf(request(7, {}, next))).toMatchObject(unknown);
    const ref = refOf(project, filePath);
    const state = await stateOf(ref);
    if (!state) throw new Error('no upload');
    await confirmCharge(ref, { size: 7, etag: 'e', contentType: 'text/plain' }, state);
    expect(await laterRefusalOf(request(7, {}, next))).toMatchObject(unknown);
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN if its answered upload has ended, and nothing is reserved', async () => {
    const run = await acquire();
    const { filePath } = await request(7, {}, run);
    const repeat = await answered(run);
    expect((await request(7, {}, repeat)).filePath).toBe(filePath);
    expect(await read(quotaKey(refOf(project, 'any')))).toEqual({ held: 7 });
    await expire(refOf(project, filePath), { size: 7, owner: undefined, bounded: undefined });
    expect(await laterRefusalOf(request(7, {}, repeat))).toMatchObject({ code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' });
    expect(await stored(filePath)).toBeUndefined();
  });

  test('that is answered reserves nothing again, also when the upload ends meanwhile', async () => {
    const run = await acquire();
    const { filePath } = await request(7, {}, run);
    const repeat = await answered(run);
    faults.between = () => expire(refOf(project, filePath), { size: 7, owner: undefined, bounded: undefined });
    await request(7, {}, repeat);
    expect(await stored(filePath)).toBeUndefined();
  });
});

describe('an upload in parts', () => {
  const size = 2 * partBytes + 5;
  const begin = async (bytes = size, rest: object = {}) => {
    const { filePath } = await requestUpload(external, { ...textOf(bytes), ...rest });
    return filePath;
  };
  const parts = (filePath: string, given?: number, access: FileAccess = developerAccess) =>
    requestParts(external, access, { filePath, size: given });
  const only = () => [...bucket.uploads.values()][0];

  test('is begun one time, and returns the parts that are missing, for an hour', async () => {
    const filePath = await begin();
    const first = await parts(filePath, size);
    expect(first).toMatchObject({ size, partSize: partBytes, uploaded: 0, expiresAt: new Date(time.now + 3600_000) });
    expect(first.parts.map((part) => part.number)).toEqual([1, 2, 3]);
    const { searchParams } = urlOf(first.parts[0] as { signedUrl: string });
    expect([searchParams.get('X-Amz-Expires'), searchParams.get('partNumber')]).toEqual(['3600', '1']);
    expect(only()).toMatchObject({
      key: `files/${filePath}`,
      contentType: 'text/plain',
      disposition: `inline; filename="${nameIn(filePath)}"`,
    });
    only()?.parts.set(1, partBytes).set(2, 3);
    const next = await parts(filePath);
    expect(next).toMatchObject({ uploaded: partBytes });
    expect(next.parts.map((part) => part.number)).toEqual([2, 3]);
    expect(bucket.state.commands.filter((name) => name === 'CreateMultipartUpload')).toHaveLength(1);
  });

  test('has at most 16 URLs at a time', async () => {
    const filePath = await begin(17 * partBytes);
    expect((await parts(filePath)).parts).toHaveLength(16);
  });

  test('of two that are begun at the same time continues one, and aborts the other', async () => {
    const filePath = await begin();
    bucket.state.before = { name: 'CreateMultipartUpload', act: () => parts(filePath) };
    await parts(filePath);
    expect(bucket.uploads.size).toBe(1);
    expect(await stored(filePath, external)).toMatchObject({ uploadId: [...bucket.uploads.keys()][0] });
  });

  test('404 FILE_NOT_FOUND when the path is unknown, of another project, or ends meanwhile', async () => {
    const filePath = await begin();
    const notFound = { code: 'FILE_NOT_FOUND' };
    expect(await laterRefusalOf(parts(filePath.replace('_a', '_b')))).toMatchObject(notFound);
    expect(await laterRefusalOf(parts(filePath.replace(projectId, 'd'.repeat(24))))).toMatchObject(notFound);
    const ended = () => expire(refOf(external, filePath), { size, owner: undefined, bounded: undefined });
    bucket.state.before = { name: 'CreateMultipartUpload', act: ended };
    expect(await laterRefusalOf(parts(filePath))).toMatchObject(notFound);
    expect(bucket.uploads.size).toBe(0);
  });

  test('403 for a caller who may not change the file', async () => {
    const filePath = await begin();
    const requireChange = async () => Promise.reject(new Error('denied'));
    await expect(parts(filePath, size, { ...developerAccess, requireChange })).rejects.toThrow('denied');
  });

  test('400 VALIDATION_FAILED in our storage, and 400 SIZE_MISMATCH for another size', async () => {
    const { filePath } = await request(7);
    expect(await laterRefusalOf(requestParts(project, developerAccess, { filePath }))).toMatchObject({
      code: 'VALIDATION_FAILED',
    });
    const own = await begin();
    const refusal = await laterRefusalOf(parts(own, size + 1));
    expect(refusal.message).toContain(`size is ${size + 1}, but the file was uploaded, or announced, with ${size}`);
  });

  test('413 FILE_TOO_LARGE over 5 GiB', async () => {
    await parts(await begin(maxMultipartBytes));
    expect(await laterRefusalOf(parts(await begin(maxMultipartBytes + 1)))).toMatchObject({ code: 'FILE_TOO_LARGE' });
  });

  test('400 VALIDATION_FAILED for a public file of a user, whose content is not checked yet', async () => {
    const refusal = await laterRefusalOf(parts(await begin(size, { unproven: 1 })));
    expect(refusal).toMatchObject({ code: 'VALIDATION_FAILED' });
    await parts(await begin(size, { unproven: 1, visibility: 'private' }));
  });

  test('that is confirmed, or complete, has no part left', async () => {
    const filePath = await begin();
    await parts(filePath);
    bucket.uploads.clear();
    expect(await laterRefusalOf(parts(filePath))).toMatchObject({ code: 'FILE_NOT_FOUND' });
    bucket.put(`files/${filePath}`, 'any');
    expect(await parts(filePath)).toMatchObject({ uploaded: size, parts: [] });
    const ref = refOf(external, filePath);
    const state = await stateOf(ref);
    if (!state) throw new Error('no upload');
    await confirmCharge(ref, { size, etag: 'e', contentType: 'text/plain' }, state);
    expect(await read(fileItemKey(ref))).toBeDefined();
    bucket.state.commands = [];
    expect(await parts(filePath)).toMatchObject({ uploaded: size, parts: [] });
    expect(bucket.state.commands).toEqual([]);
  });
});
