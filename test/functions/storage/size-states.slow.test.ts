import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { removeProjectFiles } from '../../../shared/deletion/projects.ts';
import { managedBucket } from '../../../shared/files/bucket.ts';
import { sweepUploads } from '../../../shared/files/cleanup.ts';
import { confirmUpload } from '../../../shared/files/confirm-upload.ts';
import { deleteFile } from '../../../shared/files/delete-files.ts';
import {
  type FileItem,
  fileItemKey,
  fileKey,
  quotaKey,
  refOf,
  type Visibility,
} from '../../../shared/files/file-items.ts';
import { makeVariant, respondWithVariant } from '../../../shared/files/images/make.ts';
import { chargeVariant, markVariantStored, variantObjectKey } from '../../../shared/files/images/store.ts';
import { type Variant, variantUsage } from '../../../shared/files/images/variant-items.ts';
import { formats, sides } from '../../../shared/files/images/variant-url.ts';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { changeVisibility } from '../../../shared/files/move-file.ts';
import { requestUpload } from '../../../shared/files/request-upload.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { onFiles } from '../../../shared/persistence/s3.ts';
import { get, list, write } from '../../../shared/persistence/table.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { put } from '../../support/fixtures/files.ts';
import { useOwnTable } from '../../support/fixtures/own-table.ts';
import { newDeveloper, newProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

const hour = 3600_000;
const limit = 20 * 1024 * 1024;

let project: Project;
let bytes: Buffer;
let passedMs = 0;

/** Moves the clock, so that a crashed run's hold expires. */
const pass = (ms: number): void => {
  passedMs += ms;
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + passedMs);
};

const revive = (): void => {
  vi.restoreAllMocks();
  pass(0);
};

beforeAll(async () => {
  await useOwnTable();
  bytes = await sharp({ create: { width: 90, height: 60, channels: 3, background: '#c33' } })
    .png()
    .toBuffer();
});

beforeEach(async () => {
  project = { ...storageProject(), id: (await newProject([], await newDeveloper('free'))).id };
});

afterEach(revive);

/** A confirmed image. */
const picture = async (visibility: Visibility = 'public'): Promise<string> => {
  const upload = { filename: 'a.png', contentType: 'image/png', size: bytes.length, visibility } as const;
  const { signedUrl, filePath } = await requestUpload(project, upload);
  expect(await put(signedUrl, bytes, 'image/png')).toBe(200);
  await confirmUpload(project, filePath, bytes.length);
  return filePath;
};

const itemOf = (filePath: string) => get<FileItem>(fileItemKey(refOf(project, filePath)));

const make = (filePath: string, name: string) => makeVariant(`/${filePath}/${name}`, 'public');

/** Objects of a file and its variants, with their bytes, by key without the path. */
const objectsOf = async (filePath: string): Promise<Record<string, number>> => {
  const found = await Promise.all(
    (['public', 'private'] as const).map((visibility) =>
      onFiles((client, Bucket) =>
        client.send(new ListObjectsV2Command({ Bucket, Prefix: fileKey(filePath, visibility) })),
      ),
    ),
  );
  const objects = found.flatMap(({ Contents = [] }) => Contents);
  return Object.fromEntries(objects.map(({ Key = '', Size = 0 }) => [Key.replace(filePath, ''), Size]));
};

/** The storage quota and the cached variants of the project. */
const chargedNow = async () => {
  const { used, held } = await storageUsage(project);
  expect(held).toBe(used);
  const variants = await list<Variant>({ partition: projectScope(project.id), only: { prefix: 'variant#' } });
  const cached = await variantUsage(project.id);
  expect(variants.reduce((all, one) => all + one.bytes, 0)).toBe(cached);
  return used + cached;
};

const chargedSince = async (before: number) => (await chargedNow()) - before;

const sum = (objects: Record<string, number>): number => Object.values(objects).reduce((all, size) => all + size, 0);

/** A charged variant whose run has crashed, or continues. */
const charge = async (filePath: string, name: string, size = 7, visibility: Visibility = 'public') => {
  const variant = await chargeVariant(refOf(project, filePath), { name, bytes: size, visibility }, limit);
  if (!variant || 'missing' in variant) throw new Error(`${name} could not be charged`);
  return variant.time;
};

describe('an image variant', () => {
  test('is charged once for 50 concurrent requests', async () => {
    const before = await chargedNow();
    const filePath = await picture();
    const made = await Promise.all(Array.from({ length: 50 }, () => make(filePath, 'w64')));
    expect(made.filter(({ isKept }) => isKept)).toHaveLength(1);
    expect(await chargedSince(before)).toBe(sum(await objectsOf(filePath)));
  });

  test('is one of at most 50 stored for a file', async () => {
    const before = await chargedNow();
    const filePath = await picture();
    const names = ['', ...formats].flatMap((format) => sides.map((side) => `w${side}${format && `_${format}`}`));
    const made: boolean[] = [];
    for (const name of names.slice(0, 52)) made.push((await make(filePath, name)).isKept);
    expect(made.map((isKept, at) => (isKept ? -1 : at)).filter((at) => at >= 0)).toEqual([50, 51]);
    const objects = await objectsOf(filePath);
    expect(Object.keys(objects)).toHaveLength(51);
    expect(await chargedSince(before)).toBe(sum(objects));
    await deleteFile(project, filePath);
    expect(await objectsOf(filePath)).toEqual({});
    expect(await chargedSince(before)).toBe(0);
  });

  test('is stored while the storage is full, without taking room', async () => {
    const filePath = await picture();
    const key = quotaKey(refOf(project, filePath));
    const left = limit - (await storageUsage(project)).held;
    await write({ update: key, change: 'ADD held :bytes', values: { bytes: left } });
    const before = await storageUsage(project);
    expect((await make(filePath, 'w64')).isKept).toBe(true);
    expect(await storageUsage(project)).toEqual(before);
  });

  test('of an earlier version, charged to the storage, is refunded with its file', async () => {
    const before = await chargedNow();
    const filePath = await picture();
    const values = { sizes: new Set(['w64']), bytes: 7 };
    await write({
      update: fileItemKey(refOf(project, filePath)),
      change: 'ADD sizes :sizes, sizeBytes :bytes',
      values,
    });
    const key = quotaKey(refOf(project, filePath));
    await write({ update: key, change: 'ADD held :bytes, used :bytes', values: { bytes: 7 } });
    await make(filePath, 'w128');
    await deleteFile(project, filePath);
    expect(await chargedSince(before)).toBe(0);
  });

  test('is served but neither stored nor charged when it cannot be written', async () => {
    const before = await chargedNow();
    const filePath = await picture();
    vi.spyOn(managedBucket, 'put').mockRejectedValueOnce(new Error('The storage fails'));
    expect(await make(filePath, 'w64')).toMatchObject({ isKept: false, contentType: 'image/png' });
    expect(await chargedSince(before)).toBe(bytes.length);
    expect((await make(filePath, 'w64')).isKept).toBe(true);
    expect(await chargedSince(before)).toBe(sum(await objectsOf(filePath)));
  });

  test('is cancelled when the storage takes too long', async () => {
    const before = await chargedNow();
    const filePath = await picture();
    const send = S3Client.prototype.send;
    const signals: unknown[] = [];
    vi.spyOn(S3Client.prototype, 'send').mockImplementation(function call(this: S3Client, ...given: unknown[]) {
      const [command, options] = given as [object, { readonly abortSignal?: AbortSignal } | undefined];
      if (command.constructor.name !== 'PutObjectCommand') return Reflect.apply(send, this, given);
      signals.push(options?.abortSignal);
      return new Promise((_resolve, reject) => {
        options?.abortSignal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    });
    expect((await make(filePath, 'w64')).isKept).toBe(false);
    expect(signals).toEqual([expect.any(AbortSignal)]);
    expect(await chargedSince(before)).toBe(bytes.length);
  });

  test.each([
    ['of a private file', 'private', '/private/', 'public'],
    ['of a private file, asked by nobody in particular', 'private', '/private/', undefined],
    ['of a public file, as if it were private', 'public', '/', 'private'],
  ] as const)('404 FILE_NOT_FOUND %s for readers without access', async (_what, visibility, folder, readers) => {
    const filePath = await picture(visibility);
    const headers = { 'x-visibility': readers };
    const requestContext = { requestId: 'r' };
    const { statusCode, body } = await respondWithVariant({
      rawPath: `${folder}${filePath}/w64`,
      headers,
      requestContext,
    });
    expect([statusCode, JSON.parse(body)]).toMatchObject([404, { code: 'FILE_NOT_FOUND', requestId: 'r' }]);
    expect((await itemOf(filePath))?.sizes).toBeUndefined();
  });
});

/** Waits for a condition. */
const until = (isSo: () => Promise<boolean>): Promise<void> =>
  vi.waitFor(async () => expect(await isSo()).toBe(true), { timeout: 60_000 });

describe('a variant that is being written', () => {
  test('does not outlast its file becoming private, which waits for it', async () => {
    const before = await chargedNow();
    const filePath = await picture();
    const time = await charge(filePath, 'w64');
    const moving = changeVisibility(project, filePath, 'private');
    await until(async () => (await itemOf(filePath))?.mover !== undefined);
    await managedBucket.put(variantObjectKey(filePath, 'public', 'w64'), Buffer.alloc(7), 'image/png');
    expect(await markVariantStored(refOf(project, filePath), 'w64', time)).toBe(true);
    await moving;
    expect(await objectsOf(filePath)).toEqual({ 'private/': bytes.length });
    expect(await chargedSince(before)).toBe(bytes.length);
  });

  test('does not outlast the deletion of its file, which waits for it', async () => {
    const before = await chargedNow();
    const filePath = await picture();
    const time = await charge(filePath, 'w64');
    const deleting = deleteFile(project, filePath);
    await managedBucket.put(variantObjectKey(filePath, 'public', 'w64'), Buffer.alloc(7), 'image/png');
    expect(await markVariantStored(refOf(project, filePath), 'w64', time)).toBe(true);
    await deleting;
    expect(await objectsOf(filePath)).toEqual({});
    expect(await chargedSince(before)).toBe(0);
  });

  test.each([
    ['a move', (filePath: string) => changeVisibility(project, filePath, 'private')],
    ['a deletion', (filePath: string) => deleteFile(project, filePath)],
  ])('by a crashed run delays %s until it can no longer arrive', async (_what, act) => {
    const filePath = await picture();
    await charge(filePath, 'w64');
    await managedBucket.put(variantObjectKey(filePath, 'public', 'w64'), Buffer.alloc(7), 'image/png');
    const acting = act(filePath);
    pass(9000);
    await acting;
    expect(Object.keys(await objectsOf(filePath)).filter((key) => key.startsWith('files/'))).toEqual([]);
  });

  test('is not dropped by others who see it missing', async () => {
    const filePath = await picture();
    const made = await charge(filePath, 'w128');
    await markVariantStored(refOf(project, filePath), 'w128', made);
    pass(hour);
    const time = await charge(filePath, 'w64');
    await sweepUploads();
    expect(await markVariantStored(refOf(project, filePath), 'w64', time)).toBe(true);
  });
});

describe('a process that crashes', () => {
  /** Charges and objects are consistent. */
  const expectRight = async (filePath: string, before: number, why: string): Promise<void> => {
    const objects = await objectsOf(filePath);
    expect(await chargedSince(before), why).toBe(sum(objects));
    expect(Object.keys(objects).length, why).toBe(1 + ((await itemOf(filePath))?.sizes?.size ?? 0));
  };

  test('at any step of making a variant leaves only what the cleanup repairs', async () => {
    for (let step = 0, isDone = false; !isDone; step++) {
      const before = await chargedNow();
      const filePath = await picture();
      const killed = killAfter(step);
      await make(filePath, 'w64').catch(() => undefined);
      isDone = killed.hit() === undefined;
      revive();
      pass(hour);
      await sweepUploads();
      await expectRight(filePath, before, `step ${step}`);
      await make(filePath, 'w64');
      expect((await itemOf(filePath))?.sizes, `step ${step}`).toEqual(new Set(['w64']));
      await expectRight(filePath, before, `step ${step}, once more`);
      if (isDone) expect(step).toBeGreaterThan(2);
    }
  });

  test('at any step of a cleanup of variants leaves only what a later one repairs', async () => {
    for (let step = 0, isDone = false; !isDone; step++) {
      const before = await chargedNow();
      const filePath = await picture();
      for (const name of ['w64', 'w128']) expect((await make(filePath, name)).isKept).toBe(true);
      pass(hour);
      await sweepUploads();
      await charge(filePath, 'w256');
      pass(hour);
      const killed = killAfter(step);
      await sweepUploads().catch(() => undefined);
      isDone = killed.hit() === undefined;
      revive();
      for (let runs = 0; runs < 3; runs++) {
        pass(2 * hour);
        await sweepUploads();
      }
      await expectRight(filePath, before, `step ${step}`);
      expect(Object.keys(await objectsOf(filePath)), `step ${step}`).toEqual(['files/']);
      if (isDone) expect(step).toBeGreaterThan(2);
    }
  });

  test('at any step of a move leaves no variant readable after a repeat', async () => {
    for (let step = 0, isDone = false; !isDone; step++) {
      const before = await chargedNow();
      const filePath = await picture();
      for (const name of ['w64', 'w128']) expect((await make(filePath, name)).isKept).toBe(true);
      const killed = killAfter(step);
      await changeVisibility(project, filePath, 'private').catch(() => undefined);
      isDone = killed.hit() === undefined;
      revive();
      pass(6 * 60_000);
      await changeVisibility(project, filePath, 'private');
      expect(await objectsOf(filePath), `step ${step}`).toEqual({ 'private/': bytes.length });
      pass(hour);
      await sweepUploads();
      await expectRight(filePath, before, `step ${step}`);
      if (isDone) expect(step).toBeGreaterThan(4);
    }
  });

  test('while two variants were charged in one millisecond leaves neither charged', async () => {
    const before = await chargedNow();
    const filePath = await picture();
    const moment = clock.now();
    vi.spyOn(clock, 'now').mockReturnValue(moment);
    await charge(filePath, 'w64');
    const time = await charge(filePath, 'w128');
    await managedBucket.put(variantObjectKey(filePath, 'public', 'w128'), Buffer.alloc(7), 'image/png');
    await markVariantStored(refOf(project, filePath), 'w128', time);
    revive();
    pass(hour);
    await sweepUploads();
    await expectRight(filePath, before, 'after the sweep');
  });
});

test('415 for ten minutes without reading the image again when it has no variants', async () => {
  const whole = bytes;
  bytes = whole.subarray(0, 60);
  const filePath = await picture();
  bytes = whole;
  expect((await laterRefusalOf(make(filePath, 'w64'))).code).toBe('NOT_AN_IMAGE');
  const read = vi.spyOn(managedBucket, 'read');
  const refused = await Promise.all(Array.from({ length: 50 }, () => laterRefusalOf(make(filePath, 'w128_avif'))));
  expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['NOT_AN_IMAGE']));
  expect(read).not.toHaveBeenCalled();
  pass(11 * 60_000);
  expect((await laterRefusalOf(make(filePath, 'w128_avif'))).code).toBe('NOT_AN_IMAGE');
  expect(read).toHaveBeenCalledOnce();
});

test('the removal of a project removes the variants of its images', async () => {
  const filePath = await picture();
  const hidden = await picture('private');
  expect((await make(filePath, 'w64')).isKept).toBe(true);
  expect((await makeVariant(`/private/${hidden}/w64`, 'private')).isKept).toBe(true);
  expect((await removeProjectFiles(project.id, 20)).complete).toBe(true);
  expect([await objectsOf(filePath), await objectsOf(hidden)]).toEqual([{}, {}]);
  expect((await laterRefusalOf(make(filePath, 'w128'))).code).toBe('FILE_NOT_FOUND');
});
