import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { resizeImage } from '../../../shared/files/images/draw.ts';
import type { ImageSize } from '../../../shared/files/images/variant.ts';
import { formats } from '../../../shared/files/images/variant-url.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';

type Format = NonNullable<ImageSize['format']>;

/** Noise has the most bytes in every format. */
const noise = (width: number, height: number, channels: 3 | 4): Promise<Buffer> =>
  sharp(randomBytes(width * height * channels), { raw: { width, height, channels } })
    .png({ compressionLevel: 0 })
    .toBuffer();

const mostBytes = 4_500_000;
const mostPixels = 2048 * 2048;

/** The variants with the most pixels: a tall image with only a width. */
const largest: readonly (readonly [string, number, number, ImageSize])[] = [
  ['2048 pixels of the width of a tall one', 2048, 8000, { width: 2048, fit: 'cover' }],
];

const pictures = new Map<string, Buffer>();

beforeAll(async () => {
  for (const [name, width, height] of largest) pictures.set(name, await noise(width, height, 4));
});

describe.each(formats as readonly Format[])('as %s', (format) => {
  test.each(largest)('%s has bytes of its type within the limit of responses', async (name, across, down, size) => {
    const { bytes, contentType } = await resizeImage(
      pictures.get(name) ?? Buffer.alloc(0),
      { ...size, format },
      60_000,
    );
    const made = await sharp(bytes).metadata();
    expect(contentType).toBe(`image/${format}`);
    expect(made.format).toBe(format === 'avif' ? 'heif' : format);
    expect(bytes.length).toBeLessThanOrEqual(mostBytes);
    expect(made.width * made.height).toBeLessThanOrEqual(mostPixels);
    expect(Math.abs(made.width / made.height - across / down)).toBeLessThan(0.01);
  });
});

/** Child processes that resize images. */
const painters = (): string[] =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('draw-picture'))
    .map((line) => line.trim().split(' ')[0] ?? '');

test('503 and the resizing process is killed after its limit; the next request works', async () => {
  const source = pictures.get('2048 pixels of the width of a tall one') ?? Buffer.alloc(0);
  const size: ImageSize = { fit: 'cover', format: 'avif' };
  await resizeImage(source, { width: 64, fit: 'cover' }, 60_000);
  const before = painters();
  expect(before).toHaveLength(1);
  const slow = laterRefusalOf(resizeImage(source, size, 20));
  const waiting = resizeImage(source, { width: 64, fit: 'cover', format: 'png' }, 60_000);
  expect((await slow).code).toBe('SERVICE_UNAVAILABLE');
  expect(await sharp((await waiting).bytes).metadata()).toMatchObject({ width: 64, format: 'png' });
  await vi.waitFor(() => expect(painters().filter((pid) => before.includes(pid))).toEqual([]), { timeout: 10_000 });
});
