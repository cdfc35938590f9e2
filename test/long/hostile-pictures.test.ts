import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { resizeImage } from '../../shared/files/images/draw.ts';

const refusalOf = async (bytes: Uint8Array): Promise<string> => {
  try {
    await resizeImage(bytes, { width: 64, fit: 'cover' });
    return 'drawn';
  } catch (error) {
    return String((error as { readonly code?: unknown }).code);
  }
};

const crcOf = (bytes: Buffer): number => {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
};

const chunk = (type: string, data: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crcOf(named));
  return Buffer.concat([length, named, crc]);
};

const pngOf = (width: number, height: number, depth = 8, ...more: Buffer[]): Buffer => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = depth;
  head[9] = 2;
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    ...more,
    chunk('IDAT', deflateSync(Buffer.alloc(1_000_000))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

/** 200 MB of text, compressed to a few bytes. */
const bomb = deflateSync(Buffer.alloc(200_000_000));
const text = (type: string) => chunk(type, Buffer.concat([Buffer.from('x\0\0', 'latin1'), bomb]));

const gifOf = (width: number, height: number): Buffer => {
  const head = Buffer.from('GIF89a\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  const frame = Buffer.from(',\0\0\0\0\0\0\0\0\0\x02\x02\x4c\x01\0;', 'latin1');
  frame.writeUInt16LE(width, 5);
  frame.writeUInt16LE(height, 7);
  return Buffer.concat([head, frame]);
};

const solid = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#c33' }, limitInputPixels: false });

const latin1 = (words: string): Buffer => Buffer.from(words, 'latin1');

const jpegOf = async (width: number, height: number): Promise<Buffer> => {
  const bytes = await solid(16, 16).jpeg().toBuffer();
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
};

const cut = (bytes: Buffer, share: number): Buffer => bytes.subarray(0, Math.floor(bytes.length * share));

const large = 'IMAGE_TOO_LARGE';
const none = 'NOT_AN_IMAGE';
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="99999" height="99999"/>';

/** Description, bytes, and allowed outcomes. */
const hostile: readonly (readonly [string, () => Buffer | Promise<Buffer>, readonly string[]])[] = [
  ['a PNG of 20 000 x 20 000', () => pngOf(20_000, 20_000), [large]],
  ['a PNG of 2^31 - 1 pixels across', () => pngOf(2 ** 31 - 1, 2 ** 31 - 1), [large, none]],
  ['a PNG one pixel high and 60 million wide', () => pngOf(60_000_000, 1), [large, none]],
  ['a PNG of 50 000 001 pixels', () => pngOf(16_666_667, 3), [large, none]],
  ['a PNG of 16 bits and 40 megapixels', () => pngOf(8000, 5000, 16), [large]],
  ['a PNG of no pixels', () => pngOf(0, 0), [none]],
  ['a PNG with less data than its header says', () => pngOf(4000, 4000), [none]],
  ['a PNG with a bomb of text', () => pngOf(400, 400, 8, text('zTXt')), ['drawn', none]],
  ['a PNG with a bomb of a profile', () => pngOf(400, 400, 8, text('iCCP')), ['drawn', none]],
  ['a PNG with 20 bombs of text', () => pngOf(400, 400, 8, ...Array(20).fill(text('zTXt'))), ['drawn', none]],
  ['a PNG that is cut off', async () => cut(await solid(900, 900).png().toBuffer(), 0.6), [none]],
  ['a PNG with only its signature', () => latin1('\x89PNG\r\n\x1a\n'), [none]],
  ['a GIF of 65 535 x 65 535', () => gifOf(65_535, 65_535), [large]],
  ['a GIF with only its signature', () => latin1('GIF89a'), [none]],
  ['a JPEG of 65 535 x 65 535', () => jpegOf(65_535, 65_535), [large, none]],
  ['a JPEG of 9 000 x 9 000', () => jpegOf(9000, 9000), [large]],
  ['a JPEG that is cut off', async () => cut(await solid(900, 900).jpeg().toBuffer(), 0.5), [none]],
  ['a JPEG with only its first bytes', () => latin1('\xff\xd8\xff\xe0'), [none]],
  ['a WebP of 8 000 x 8 000', () => solid(8000, 8000).webp({ effort: 0 }).toBuffer(), [large]],
  ['a WebP that is cut off', async () => cut(await solid(900, 900).webp().toBuffer(), 0.5), [none]],
  ['a WebP of zeros', () => Buffer.concat([latin1('RIFF\xff\xff\xff\x7fWEBPVP8L'), Buffer.alloc(1000)]), [none]],
  ['an AVIF of 4 000 x 4 000', () => solid(4000, 4000).avif({ effort: 0 }).toBuffer(), [large]],
  ['an AVIF that is cut off', async () => cut(await solid(900, 900).avif({ effort: 0 }).toBuffer(), 0.5), [none]],
  ['an AVIF of zeros', () => Buffer.concat([latin1('\0\0\0\x1cftypavif'), Buffer.alloc(1000)]), [none]],
  ['a TIFF', () => solid(90, 90).tiff().toBuffer(), [none]],
  ['an SVG', () => latin1(svg), [none]],
  ['an SVG with an XML declaration', () => latin1(`<?xml version="1.0"?>${svg}`), [none]],
  ['a HEIC', () => Buffer.concat([latin1('\0\0\0\x1cftypheic'), Buffer.alloc(1000)]), [none]],
  ['a JPEG XL', () => Buffer.concat([latin1('\xff\x0a'), Buffer.alloc(1000)]), [none]],
  ['a PDF', () => latin1('%PDF-1.7\n1 0 obj<</Type/Page/MediaBox[0 0 99999 99999]>>'), [none]],
  ['an SVG with a GIF signature', () => latin1(`GIF89a${svg}`), [none, large]],
  ['an SVG with a PNG signature', () => latin1(`\x89PNG\r\n\x1a\n${svg}`), [none]],
  ['HTML after a JPEG', async () => Buffer.concat([await solid(9, 9).jpeg().toBuffer(), latin1('<html>')]), ['drawn']],
  ['text', () => latin1('hello'), [none]],
  ['nothing', () => Buffer.alloc(0), [none]],
];

describe('resizing rejects or safely draws', () => {
  test.each(hostile)('%s', async (_what, make, said) => {
    expect(said).toContain(await refusalOf(await make()));
  });
});

test('images are still drawn after these inputs', async () => {
  const made = await resizeImage(await solid(900, 600).png().toBuffer(), { width: 320, height: 320, fit: 'cover' });
  expect(await sharp(made.bytes).metadata()).toMatchObject({ width: 320, height: 320, format: 'png' });
});
