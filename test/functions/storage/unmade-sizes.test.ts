import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { type FileItem, fileItemKey, refOf } from '../../../shared/files/file-items.ts';
import { requireNoFailure, storeFailure, VariantError } from '../../../shared/files/images/draw.ts';
import { get, write } from '../../../shared/persistence/table.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

let project: Project;
let path: string;

const ref = () => refOf(project, path);

beforeEach(async () => {
  project = storageProject();
  path = `${project.id}/${randomBytes(8).toString('hex')}_a.png`;
  await write({ put: { ...fileItemKey(ref()), bytes: 1, etag: '"a"', contentType: 'image/png', confirmedAt: 1 } });
});

afterEach(() => vi.restoreAllMocks());

const tookTooLong = new VariantError('SERVICE_UNAVAILABLE', 'It took over 10 seconds.');
const tooLarge = new VariantError('IMAGE_TOO_LARGE', 'The size is larger than 4.5 MB.');
const notAnImage = new AppError('NOT_AN_IMAGE', 'It is no picture.');

/** Error code of a variant; `made` if it was tried. */
const outcome = async (name: string): Promise<string> => {
  const item = await get<FileItem>(fileItemKey(ref()));
  if (!item) throw new Error('The file is not there');
  try {
    requireNoFailure(item, name);
    return 'made';
  } catch (error) {
    return (error as AppError).code;
  }
};

test('503 only for the variant that took too long, for ten minutes', async () => {
  await storeFailure(ref(), 'w64', tookTooLong);
  expect([await outcome('w64'), await outcome('w64_webp'), await outcome('w128')]).toEqual([
    'SERVICE_UNAVAILABLE',
    'made',
    'made',
  ]);
  const now = clock.now();
  vi.spyOn(clock, 'now').mockReturnValue(now + 11 * 60_000);
  expect(await outcome('w64')).toBe('made');
});

test('503 for every variant after three took too long', async () => {
  for (const name of ['w64', 'w128']) await storeFailure(ref(), name, tookTooLong);
  expect(await outcome('w256')).toBe('made');
  await storeFailure(ref(), 'w320', tookTooLong);
  expect([await outcome('w256'), await outcome('w64')]).toEqual(['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
  const now = clock.now();
  vi.spyOn(clock, 'now').mockReturnValue(now + 11 * 60_000);
  expect(await outcome('w256')).toBe('made');
});

test('413 only for variants that are too large, however many there are', async () => {
  for (const name of ['w64', 'w128', 'w256', 'w320']) await storeFailure(ref(), name, tooLarge);
  expect([await outcome('w64'), await outcome('w480')]).toEqual(['IMAGE_TOO_LARGE', 'made']);
});

test('415 for every variant of a file that is no image', async () => {
  await storeFailure(ref(), 'w64', notAnImage);
  expect([await outcome('w64'), await outcome('w128')]).toEqual(['NOT_AN_IMAGE', 'NOT_AN_IMAGE']);
});

test('a file stores at most 51 failed variants, the latest ones, when 80 fail', async () => {
  for (let at = 0; at < 80; at++) await storeFailure(ref(), `w${at}`, tooLarge);
  const item = await get<FileItem>(fileItemKey(ref()));
  expect(item?.unmadeSizes?.size).toBeLessThanOrEqual(51);
  expect(await outcome('w79')).toBe('IMAGE_TOO_LARGE');
});

test('nothing is stored for a file that is deleted meanwhile', async () => {
  await write({ delete: fileItemKey(ref()) });
  await storeFailure(ref(), 'w64', tookTooLong);
  await storeFailure(ref(), 'w64', notAnImage);
  expect(await get(fileItemKey(ref()))).toBeUndefined();
});
