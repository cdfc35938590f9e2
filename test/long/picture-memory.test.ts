import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'basalt-pictures-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const plain = (width: number, height: number, channels: 3 | 4) =>
  sharp({
    create: { width, height, channels, background: { r: 200, g: 40, b: 40, alpha: 0.5 } },
    limitInputPixels: false,
  });

/**
 * The largest accepted images of formats that must be in memory as a whole. Their content does not change the memory
 * use.
 */
const largest: readonly (readonly [string, () => Promise<Buffer>])[] = [
  ['a JPEG of 50 megapixels', () => plain(8160, 6120, 3).jpeg().toBuffer()],
  [
    'a progressive JPEG of 40 megapixels',
    () => plain(8000, 5000, 3).jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer(),
  ],
  ['an interlaced PNG of 50 megapixels', () => plain(8160, 6120, 4).png({ progressive: true }).toBuffer()],
  [
    'an interlaced PNG of 28 megapixels and 16 bits',
    () => plain(7000, 4000, 4).toColourspace('rgb16').png({ progressive: true }).toBuffer(),
  ],
  ['a GIF of 50 megapixels', () => plain(8160, 6120, 3).gif({ effort: 1 }).toBuffer()],
  ['a WebP of 50 megapixels', () => plain(8160, 6120, 4).webp({ effort: 0 }).toBuffer()],
  ['an AVIF of 12.5 megapixels', () => plain(4080, 3060, 4).avif({ effort: 0 }).toBuffer()],
];

test.each(largest)('%s is resized to its largest size within 512 MiB', async (what, make) => {
  const file = join(folder, what.replaceAll(' ', '-'));
  await writeFile(file, await make());
  const { stdout } = await run(process.execPath, ['bench/draw-size.ts', file, '2048', '2048', 'avif']);
  const { peakMiB, bytes } = JSON.parse(stdout) as { readonly peakMiB: number; readonly bytes: number };
  expect(bytes).toBeGreaterThan(0);
  expect(peakMiB).toBeLessThan(512);
});
