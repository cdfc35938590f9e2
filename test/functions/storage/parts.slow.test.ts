import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { fileAccess } from '../../../shared/documents/files.ts';
import { customerBucket } from '../../../shared/files/bucket-of.ts';
import { sweepUploads } from '../../../shared/files/cleanup.ts';
import { confirmUpload, requireDeclaredType, signatureBytes } from '../../../shared/files/confirm-upload.ts';
import { deleteFile } from '../../../shared/files/delete-files.ts';
import { developerAccess, type FileAccess, fileKey, refOf } from '../../../shared/files/file-items.ts';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { partBytes, partsOf } from '../../../shared/files/multipart.ts';
import { requestParts, requestUpload, requestUserUpload } from '../../../shared/files/request-upload.ts';
import type { ExternalPlace } from '../../../shared/files/storage-keys.ts';
import { stateOf } from '../../../shared/files/upload-states.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel } from '../../support/clients/client.ts';
import { type OtherStorage, placeFor, startOtherStorage } from '../../support/clients/other-storage.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { useOwnTable } from '../../support/fixtures/own-table.ts';
import { newProject } from '../../support/fixtures/project.ts';

const GiB = 1024 ** 3;
/** One part, the last. */
const bytes = Buffer.from('hello');
const size = bytes.length;
const large = Buffer.concat([Buffer.alloc(partBytes, 'a'), Buffer.alloc(partBytes, 'b'), bytes]);

const user = (userId: string): FileAccess => fileAccess(project, { kind: 'publishable', userId });

let storage: OtherStorage;
let project: Project;
const realNow = clock.now;

beforeAll(async () => {
  await useOwnTable();
  storage = await startOtherStorage();
  project = { ...(await storage.project()), uploads: { users: true, maxBytes: GiB, types: ['*/*'] } };
});

afterEach(() => {
  clock.now = realNow;
});

afterAll(() => storage.stop());

const bucketOf = async (of = project) => customerBucket(of.id, of.storage as ExternalPlace);

const requested = async (of = project, more: object = {}): Promise<string> =>
  (await requestUpload(of, { filename: 'a.bin', contentType: 'application/json', size, ...more })).filePath;

const next = (filePath: string, of = project) => requestParts(of, developerAccess, { filePath });

interface SignedPart {
  readonly number: number;
  readonly size: number;
  readonly signedUrl: string;
}

const contentOf = ({ number, size: length }: Pick<SignedPart, 'number' | 'size'>, of = bytes) =>
  of.subarray((number - 1) * partBytes, (number - 1) * partBytes + length);

const putPart = async ({ signedUrl }: Pick<SignedPart, 'signedUrl'>, content: Uint8Array): Promise<number> => {
  const answer = await fetch(signedUrl, { method: 'PUT', body: new Uint8Array(content) });
  await answer.arrayBuffer();
  return answer.status;
};

/** Uploads all missing parts. */
const finish = async (filePath: string, of = project, content = bytes): Promise<void> => {
  const { parts } = await next(filePath, of);
  for (const part of parts) expect(await putPart(part, contentOf(part, content))).toBe(200);
};

/** The upload of a path at the storage. */
const uploadOf = async (filePath: string, of = project) => {
  await next(filePath, of);
  const { uploadId = '' } = (await stateOf(refOf(of, filePath))) ?? {};
  return { key: fileKey(filePath, 'public'), uploadId };
};

/** Uploads all parts and completes the upload, like a confirmation that crashes then. */
const putTogether = async (filePath: string, of = project): Promise<void> => {
  const upload = await uploadOf(filePath, of);
  await finish(filePath, of);
  const { parts } = await bucketOf(of);
  expect(await parts.complete(upload, (await parts.list(upload)) ?? [])).toBe('completed');
};

/** A part without a signed URL. */
const putAnyway = async (filePath: string, number: number, content: Buffer): Promise<void> => {
  const [{ parts }, upload] = [await bucketOf(), await uploadOf(filePath)];
  const signedUrl = await parts.presign(upload, { number, size: content.length }, 60);
  expect(await putPart({ signedUrl }, content)).toBe(200);
};

const numbers = ({ parts }: { readonly parts: readonly SignedPart[] }) => parts.map(({ number }) => number);

describe('an upload in parts', () => {
  test('becomes a file once all parts arrived, with exactly their bytes and the declared type', async () => {
    const filePath = await requested(project, { size: large.length });
    const { parts, ...told } = await next(filePath);
    expect(told).toMatchObject({
      filePath,
      size: large.length,
      partSize: partBytes,
      uploaded: 0,
      expiresAt: expect.any(Date),
    });
    expect(parts.map((part) => [part.number, part.size])).toEqual([
      [1, partBytes],
      [2, partBytes],
      [3, 5],
    ]);
    for (const part of parts) expect(await putPart(part, contentOf(part, large))).toBe(200);
    expect(await next(filePath)).toMatchObject({ uploaded: large.length, parts: [] });
    const confirmed = await confirmUpload(project, filePath, large.length);
    expect(confirmed).toMatchObject({ provider: 'external', url: `${storage.publicHost}/files/${filePath}` });
    const found = await fetch(confirmed.url ?? '');
    expect(found.headers.get('content-type')).toBe('application/json');
    expect(Buffer.from(await found.arrayBuffer()).equals(large)).toBe(true);
    expect(await confirmUpload(project, filePath, large.length)).toEqual(confirmed);
    expect(await next(filePath)).toEqual({
      filePath,
      size: large.length,
      partSize: partBytes,
      uploaded: large.length,
      parts: [],
    });
    for (const part of parts) expect(await putPart(part, contentOf(part, large))).toBe(404);
  });

  test('resumes after an interruption without repeating parts', async () => {
    const filePath = await requested(project, { size: large.length });
    const [, second] = (await next(filePath)).parts;
    expect(second && (await putPart(second, contentOf(second, large)))).toBe(200);
    const left = await next(filePath);
    expect([numbers(left), left.uploaded]).toEqual([[1, 3], partBytes]);
    expect(await laterRefusalOf(confirmUpload(project, filePath, large.length))).toMatchObject({
      code: 'UPLOAD_NOT_READY',
    });
    await finish(filePath, project, large);
    expect(await confirmUpload(project, filePath, large.length)).toMatchObject({ path: filePath });
  });

  test('starts one upload at the storage for any number of concurrent requests', async () => {
    const filePath = await requested();
    const begun = await inParallel(20, () => next(filePath));
    const ids = begun.flatMap(({ parts }) =>
      parts.map(({ signedUrl }) => new URL(signedUrl).searchParams.get('uploadId')),
    );
    expect(new Set(ids).size).toBe(1);
    await finish(filePath);
    expect(await confirmUpload(project, filePath, size)).toMatchObject({ path: filePath });
  });

  test('is charged once by 50 confirmations', async () => {
    const { used, files } = await storageUsage(project);
    const filePath = await requested();
    await finish(filePath);
    const answers = await inParallel(50, () => confirmUpload(project, filePath, size));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await storageUsage(project)).toMatchObject({ used: used + size, files: files + 1 });
  });

  test('is completed by another confirmation when one crashed after the storage completed it', async () => {
    const filePath = await requested();
    await putTogether(filePath);
    expect(await next(filePath)).toMatchObject({ uploaded: size, parts: [] });
    expect(await confirmUpload(project, filePath, size)).toMatchObject({ path: filePath });
  });

  test('is aborted and refunded by a deletion', async () => {
    const { held, files } = await storageUsage(project);
    const [begun, whole] = [await requested(), await requested()];
    const upload = await uploadOf(begun);
    await putTogether(whole);
    for (const filePath of [begun, whole]) {
      await deleteFile(project, filePath);
      expect(await laterRefusalOf(next(filePath))).toMatchObject({ code: 'FILE_NOT_FOUND' });
      expect(await laterRefusalOf(confirmUpload(project, filePath, size))).toMatchObject({ code: 'FILE_NOT_FOUND' });
      expect(await laterRefusalOf(deleteFile(project, filePath))).toMatchObject({ code: 'FILE_NOT_FOUND' });
    }
    const { parts, head } = await bucketOf();
    expect([await parts.list(upload), await head(fileKey(whole, 'public'))]).toEqual([undefined, null]);
    expect(await storageUsage(project)).toMatchObject({ held, files });
  });

  test('ends as a file or nothing when confirmations and deletions are concurrent', async () => {
    const { held, files } = await storageUsage(project);
    const filePath = await requested();
    await finish(filePath);
    const acts = Array.from({ length: 20 }, (_, at) =>
      (at % 2 === 0 ? confirmUpload(project, filePath, size) : deleteFile(project, filePath)).catch(
        (error: { readonly code?: string }) => expect(['FILE_NOT_FOUND', 'TOO_MANY_WRITERS']).toContain(error.code),
      ),
    );
    await Promise.all(acts);
    await deleteFile(project, filePath).catch(() => undefined);
    expect(await storageUsage(project)).toMatchObject({ held, files });
    expect(await (await bucketOf()).head(fileKey(filePath, 'public'))).toBeNull();
  });
});

describe('a part', () => {
  test('of another length, number or upload than signed is rejected by the storage', async () => {
    const of = { size: large.length };
    const [filePath, other] = [await requested(project, of), await requested(project, of)];
    const [first, , last] = (await next(filePath)).parts;
    const elsewhere = (await uploadOf(other)).uploadId;
    if (!first || !last) throw new Error('There are no parts');
    expect(await putPart(last, Buffer.alloc(6))).toBe(403);
    expect(await putPart(last, Buffer.alloc(4))).toBe(403);
    const renamed = [
      last.signedUrl.replace('partNumber=3', 'partNumber=2'),
      last.signedUrl.replace(/uploadId=[^&]+/, `uploadId=${elsewhere}`),
      last.signedUrl.replace(filePath, other),
    ];
    for (const signedUrl of renamed) expect(await putPart({ signedUrl }, bytes)).toBe(403);
    expect(numbers(await next(filePath))).toEqual([1, 2, 3]);
    expect(numbers(await next(other))).toEqual([1, 2, 3]);
  });

  test('that is too short is missing when a storage ignores signatures', async () => {
    const filePath = await requested();
    await finish(filePath);
    await putAnyway(filePath, 1, Buffer.from('hell'));
    expect(numbers(await next(filePath))).toEqual([1]);
    expect(await laterRefusalOf(confirmUpload(project, filePath, size))).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    expect(await (await bucketOf()).head(fileKey(filePath, 'public'))).toBeNull();
  });

  test('that was not requested is ignored', async () => {
    const filePath = await requested();
    await finish(filePath);
    await putAnyway(filePath, 2, Buffer.from('more'));
    await confirmUpload(project, filePath, size);
    expect(await (await bucketOf()).head(fileKey(filePath, 'public'))).toMatchObject({ size });
  });

  test('that is replaced after the listing is detected by its ETag', async () => {
    const filePath = await requested();
    await finish(filePath);
    const { parts } = await bucketOf();
    const upload = await uploadOf(filePath);
    const listed = (await parts.list(upload)) ?? [];
    await putAnyway(filePath, 1, Buffer.from('other'));
    expect(await parts.complete(upload, listed)).toBe('refused');
    expect(await confirmUpload(project, filePath, size)).toMatchObject({ path: filePath });
  });
});

describe('errors', () => {
  test('400 SIZE_MISMATCH for another size than declared', async () => {
    const filePath = await requested();
    await finish(filePath);
    const resumed = requestParts(project, developerAccess, { filePath, size: size + 1 });
    expect(await laterRefusalOf(resumed)).toMatchObject({ code: 'SIZE_MISMATCH' });
    expect(await laterRefusalOf(confirmUpload(project, filePath, size + 1))).toMatchObject({ code: 'SIZE_MISMATCH' });
    expect(await (await bucketOf()).head(fileKey(filePath, 'public'))).toBeNull();
    expect(await confirmUpload(project, filePath, size)).toMatchObject({ path: filePath });
  });

  test('413 FILE_TOO_LARGE over 5 GiB, which has 640 parts', async () => {
    expect(partsOf(5 * GiB)).toHaveLength(640);
    const most = await requested(project, { size: 5 * GiB });
    expect(numbers(await next(most))).toEqual(Array.from({ length: 16 }, (_, at) => at + 1));
    const more = await requested(project, { size: 5 * GiB + 1 });
    expect(await laterRefusalOf(next(more))).toMatchObject({ code: 'FILE_TOO_LARGE' });
  });

  test('400 VALIDATION_FAILED for hosted storage', async () => {
    const ours: Project = { ...project, storage: { kind: 'managed' } };
    const filePath = await requested(ours, { size: 5 });
    expect(await laterRefusalOf(next(filePath, ours))).toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  test('404 FILE_NOT_FOUND for malformed paths, other projects’ and users’ paths, and paths without a request', async () => {
    const other = await storage.project();
    const theirs = await requested(other);
    const anns = (await requestUserUpload(project, 'ann', { filename: 'a', contentType: 'a/b', size })).filePath;
    const [ann, bob] = [user('ann'), user('bob')];
    const asked = [
      [developerAccess, 'a/b'],
      [developerAccess, theirs],
      [developerAccess, theirs.replace(other.id, project.id)],
      [bob, anns],
    ] as const;
    for (const [access, filePath] of asked)
      expect(await laterRefusalOf(requestParts(project, access, { filePath }))).toMatchObject({
        code: 'FILE_NOT_FOUND',
      });
    await requestParts(project, ann, { filePath: anns });
    expect(await laterRefusalOf(deleteFile(project, anns, bob))).toMatchObject({ code: 'FILE_NOT_FOUND' });
    await deleteFile(project, anns, ann);
  });

  test('404 FILE_NOT_FOUND when the storage has aborted the upload', async () => {
    const filePath = await requested();
    const upload = await uploadOf(filePath);
    await (await bucketOf()).parts.abort(upload);
    expect(await laterRefusalOf(next(filePath))).toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect(await laterRefusalOf(confirmUpload(project, filePath, size))).toMatchObject({ code: 'UPLOAD_NOT_READY' });
  });

  test('503 STORAGE_UNAVAILABLE when the keys are rejected', async () => {
    const filePath = await requested();
    const place = project.storage as ExternalPlace;
    const revoked = { ...project, storage: { ...place, region: 'us-west-1' } };
    expect(await laterRefusalOf(next(filePath, revoked))).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  });
});

describe('an upload in parts by a user', () => {
  const byUser = async (content: Buffer, more: object = {}): Promise<string> => {
    const upload = { filename: 'a.png', contentType: 'image/png', size: content.length, ...more };
    return (await requestUserUpload(project, 'ann', upload)).filePath;
  };
  const confirmAsUser = (filePath: string, length = size) =>
    confirmUpload(project, filePath, length, {
      access: user('ann'),
      prove: async (bucket, key, { etag, contentType }) => {
        const start = await bucket.read(key, etag, signatureBytes);
        if (start) await requireDeclaredType(contentType, start);
      },
    });

  test('is private and inspected: 400 CONTENT_TYPE_MISMATCH removes it', async () => {
    const filePath = await byUser(bytes);
    await finish(filePath);
    expect(await laterRefusalOf(confirmAsUser(filePath))).toMatchObject({ code: 'CONTENT_TYPE_MISMATCH' });
    expect(await (await bucketOf()).head(fileKey(filePath, 'private'))).toBeNull();
    expect(await laterRefusalOf(confirmAsUser(filePath))).toMatchObject({ code: 'FILE_NOT_FOUND' });
    const picture = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
    const good = await byUser(picture);
    await finish(good, project, picture);
    expect(await confirmAsUser(good, picture.length)).toMatchObject({ url: null });
  });

  test('stays when the storage fails during the inspection, or when it was confirmed meanwhile', async () => {
    const filePath = await byUser(bytes);
    await finish(filePath);
    const access = user('ann');
    const unavailable = new AppError('STORAGE_UNAVAILABLE', 'It does not answer.');
    const failing = confirmUpload(project, filePath, size, { access, prove: () => Promise.reject(unavailable) });
    expect(await laterRefusalOf(failing)).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    const prove = async () => {
      await confirmUpload(project, filePath, size);
      throw new AppError('CONTENT_TYPE_MISMATCH', 'It is something else.');
    };
    const slower = confirmUpload(project, filePath, size, { access, prove });
    expect(await laterRefusalOf(slower)).toMatchObject({ code: 'CONTENT_TYPE_MISMATCH' });
    expect(await (await bucketOf()).head(fileKey(filePath, 'private'))).toMatchObject({ size });
  });

  test('400 VALIDATION_FAILED for a public file, which would be visible before the inspection', async () => {
    const filePath = await byUser(bytes, { visibility: 'public' });
    expect(await laterRefusalOf(next(filePath))).toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});

describe('the cleanup', () => {
  const hour = 3600 * 1000;
  let start = 0;

  /** Sets the clock to `hours` after the start of a test. */
  const atHour = (hours: number): void => {
    clock.now = () => realNow() + start + hours * hour;
  };

  // Each test starts after the last cleanup of the one before, which leaves nothing due.
  beforeEach(() => {
    start += 72 * hour;
    atHour(0);
  });

  test('aborts uploads that were not confirmed within a day, and removes completed objects', async () => {
    const { id } = await newProject();
    const place = await placeFor(id, storage, storage.publicHost);
    const owner: Project = { ...project, id, storage: place };
    await onControl((db) =>
      db.collection('projects').updateOne({ _id: new ObjectId(id) }, { $set: { storage: place } }),
    );
    const [begun, whole] = [await requested(owner), await requested(owner)];
    const upload = await uploadOf(begun, owner);
    const [first] = (await next(begun, owner)).parts;
    expect(first && (await putPart(first, contentOf(first)))).toBe(200);
    await putTogether(whole, owner);
    atHour(25);
    await sweepUploads();
    expect(await storageUsage(owner)).toMatchObject({ held: 0, used: 0 });
    const { parts, head } = await bucketOf(owner);
    expect([await parts.list(upload), await head(fileKey(whole, 'public'))]).toEqual([undefined, null]);
    for (const filePath of [begun, whole]) {
      expect(await laterRefusalOf(next(filePath, owner))).toMatchObject({ code: 'FILE_NOT_FOUND' });
      expect(await laterRefusalOf(confirmUpload(owner, filePath, size))).toMatchObject({ code: 'FILE_NOT_FOUND' });
    }
    expect(await sweepUploads()).toBe(0);
  });

  test('leaves confirmed files', async () => {
    const filePath = await requested();
    await finish(filePath);
    await confirmUpload(project, filePath, size);
    atHour(25);
    await sweepUploads();
    expect(await (await bucketOf()).head(fileKey(filePath, 'public'))).toMatchObject({ size });
  });
});
