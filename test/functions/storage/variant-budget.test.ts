import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import sharp from 'sharp';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { managedBucket } from '../../../shared/files/bucket.ts';
import { sweepUploads } from '../../../shared/files/cleanup.ts';
import { confirmUpload } from '../../../shared/files/confirm-upload.ts';
import { deleteFile } from '../../../shared/files/delete-files.ts';
import { type FileItem, fileItemKey, fileKey, refOf } from '../../../shared/files/file-items.ts';
import { chargeWithRoom, makeVariant } from '../../../shared/files/images/make.ts';
import { markVariantStored, variantObjectKey } from '../../../shared/files/images/store.ts';
import { type Variant, variantUsage } from '../../../shared/files/images/variant-items.ts';
import { storageUsage } from '../../../shared/files/list-files.ts';
import { changeVisibility } from '../../../shared/files/move-file.ts';
import { requestUpload } from '../../../shared/files/request-upload.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { onFiles } from '../../../shared/persistence/s3.ts';
import { get, list } from '../../../shared/persistence/table.ts';
import { plans } from '../../../shared/projects/plans.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel } from '../../support/clients/client.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { put } from '../../support/fixtures/files.ts';
import { useOwnTable } from '../../support/fixtures/own-table.ts';
import { newDeveloper, newProject } from '../../support/fixtures/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

const budget = 1000;

let project: Project;
let bytes: Buffer;
let passedMs = 0;

/** Moves the clock, because every variant needs its own time. */
const pass = (ms: number): void => {
  passedMs += ms;
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + passedMs);
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

afterEach(() => {
  vi.restoreAllMocks();
  pass(0);
});

const picture = async (): Promise<string> => {
  const upload = { filename: 'a.png', contentType: 'image/png', size: bytes.length };
  const { signedUrl, filePath } = await requestUpload(project, upload);
  expect(await put(signedUrl, bytes, 'image/png')).toBe(200);
  await confirmUpload(project, filePath, bytes.length);
  return filePath;
};

/** Stores a variant; false if it was not stored. */
const keep = async (filePath: string, name: string, size: number): Promise<boolean> => {
  const ref = refOf(project, filePath);
  const charged = await chargeWithRoom(ref, { name, bytes: size, visibility: 'public' }, budget);
  if (!charged) return false;
  await managedBucket.put(variantObjectKey(filePath, 'public', name), Buffer.alloc(size), 'image/png');
  return markVariantStored(ref, name, charged.time);
};

/** Names of the stored variants. */
const stored = async (filePath: string): Promise<string[]> => {
  const Prefix = `${fileKey(filePath, 'public')}/`;
  const { Contents = [] } = await onFiles((client, Bucket) =>
    client.send(new ListObjectsV2Command({ Bucket, Prefix })),
  );
  return Contents.map(({ Key = '' }) => Key.slice(Prefix.length)).sort();
};

const variants = () => list<Variant>({ partition: projectScope(project.id), only: { prefix: 'variant#' } });

/** Table, counter and storage have the same variants. */
const expectRight = async (filePath: string): Promise<void> => {
  const known = await variants();
  const held = await variantUsage(project.id);
  expect(held).toBe(known.reduce((sum, one) => sum + one.bytes, 0));
  expect(held).toBeLessThanOrEqual(budget);
  const item = await get<FileItem>(fileItemKey(refOf(project, filePath)));
  expect([...(item?.sizes ?? [])].sort()).toEqual(known.map(({ name }) => name).sort());
  expect(await stored(filePath)).toEqual(known.map(({ name }) => name).sort());
};

describe('the cache of image variants', () => {
  test('evicts the oldest variants when there is no room', async () => {
    const filePath = await picture();
    for (const name of ['w64', 'w128', 'w256']) {
      expect(await keep(filePath, name, 300)).toBe(true);
      pass(10_000);
    }
    expect(await keep(filePath, 'w320', 500)).toBe(true);
    expect((await variants()).map(({ name }) => name)).toEqual(['w256', 'w320']);
    await expectRight(filePath);
  });

  test('evicts no variant that is being written, and stores none larger than the budget', async () => {
    const filePath = await picture();
    const ref = refOf(project, filePath);
    expect(await chargeWithRoom(ref, { name: 'w64', bytes: 900, visibility: 'public' }, budget)).toBeDefined();
    expect(await keep(filePath, 'w128', 500)).toBe(false);
    expect((await variants()).map(({ name }) => name)).toEqual(['w64']);
    pass(10_000);
    expect(await keep(filePath, 'w128', 500)).toBe(true);
    expect(await keep(filePath, 'w256', budget + 1)).toBe(false);
    await expectRight(filePath);
  });

  test('never exceeds its budget with 50 concurrent variants of several images', async () => {
    const paths = await Promise.all([picture(), picture(), picture(), picture(), picture()]);
    const sides = [64, 128, 256, 320, 480, 640, 768, 1024, 1280, 1600];
    let most = 0;
    const look = async () => {
      most = Math.max(most, await variantUsage(project.id));
    };
    for (let round = 0; round < 3; round++) {
      await inParallel(50, async (at) => {
        await keep(paths[at % 5] ?? '', `w${sides[Math.floor(at / 5)]}${['', '_webp', '_png'][round]}`, 90);
        await look();
      });
      pass(10_000);
    }
    expect(most).toBeLessThanOrEqual(budget);
    expect(most).toBeGreaterThan(budget - 200);
    const known = await variants();
    expect(await variantUsage(project.id)).toBe(known.reduce((sum, one) => sum + one.bytes, 0));
    const objects = (await Promise.all(paths.map(stored))).flat();
    expect(objects).toHaveLength(known.length);
  });

  test('has nothing of files that are deleted or moved during an eviction', async () => {
    const paths = await Promise.all([picture(), picture(), picture()]);
    const [deleted = '', moved = '', other = ''] = paths;
    for (const filePath of paths) for (const name of ['w64', 'w128']) await keep(filePath, name, 160);
    pass(10_000);
    await Promise.all([
      deleteFile(project, deleted),
      changeVisibility(project, moved, 'private').catch(() => changeVisibility(project, moved, 'private')),
      keep(other, 'w256', 300),
      keep(other, 'w320', 300),
    ]);
    await changeVisibility(project, moved, 'private');
    expect([await stored(deleted), await stored(moved)]).toEqual([[], []]);
    await expectRight(other);
  });

  test('is consistent after a crash at any step of an eviction', async () => {
    for (let step = 0, isDone = false; !isDone; step++) {
      project = { ...storageProject(), id: project.id };
      const filePath = await picture();
      await keep(filePath, 'w64', 600);
      pass(10_000);
      const killed = killAfter(step);
      await keep(filePath, 'w128', 600).catch(() => undefined);
      isDone = killed.hit() === undefined;
      vi.restoreAllMocks();
      pass(3600_000);
      await sweepUploads();
      await expectRight(filePath);
      expect(await keep(filePath, 'w256', 600), `step ${step}`).toBe(true);
      await expectRight(filePath);
      await deleteFile(project, filePath);
      expect(await variantUsage(project.id)).toBe(0);
      if (isDone) expect(step).toBeGreaterThan(6);
    }
  });
});

test('variants that visitors request leave the room for uploads unchanged', async () => {
  const filePath = await picture();
  const before = await storageUsage(project);
  const made = await Promise.all(
    ['w64', 'w64_webp', 'w64_avif', 'w64_jpeg', 'h64', 'h64_webp'].map((name) =>
      makeVariant(`/${filePath}/${name}`, 'public'),
    ),
  );
  expect(made.map(({ isKept }) => isKept)).toEqual(Array.from({ length: 6 }, () => true));
  expect(await storageUsage(project)).toEqual(before);
  expect(await variantUsage(project.id)).toBeLessThanOrEqual(plans.free.variantBytes);
});
