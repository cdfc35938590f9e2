import type { Metadata, Sharp } from 'sharp';
import type { Size } from './variant.ts';

// The program of the process that draws: `picture.ts` starts it, sends it one picture at a time and may kill it.

export type Format = NonNullable<Size['format']>;

/** `usual` is the format if none is asked for. */
export interface Drawing {
  readonly bytes: Uint8Array;
  readonly usual: Format;
  readonly size: Size;
}

export interface Drawn {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

export type DrawOutcome =
  | { readonly drawn: Drawn }
  | { readonly refused: 'tooManyPixels' | 'tooManyBytes' }
  | { readonly refused: 'unreadable'; readonly reason: string };

/** What reads the formats that we take, by libvips' names; nothing else of it is let near a file. */
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((name) => `VipsForeignLoad${name}Buffer`);

const mostPixels = 50_000_000;

/**
 * Fewer of what takes more memory than 512 MiB otherwise: AVIF up to 25 bytes a pixel, 16 bits a channel twice 8, and
 * of a progressive JPEG all coefficients.
 */
const mostPixelsOf = ({
  format,
  depth,
  isProgressive,
}: Pick<Metadata, 'format' | 'depth' | 'isProgressive'>): number => {
  if (format === 'heif') return 12_500_000;
  if (format === 'jpeg' && isProgressive) return 40_000_000;
  return depth === 'ushort' ? 28_000_000 : mostPixels;
};

/** The largest size that is made, with sides that every format allows. */
const mostMadePixels = 2048 * 2048;
const mostMadeSide = 8192;

/** The most bytes that a function can answer. */
const mostBytes = 4_500_000;

/** What is tried until the bytes fit: quality of lossy formats, 256 colours for PNG, then half the sides. */
const attempts = [
  { isLean: false, scale: 1 },
  { isLean: true, scale: 1 },
  { isLean: true, scale: 0.5 },
] as const;

interface Manner {
  readonly isLean: boolean;
  readonly pixels: number;
}

/** AVIF of noise takes a second a megapixel with effort 2, a fifth of that with 0. */
const mostWithEffort = 1_000_000;

/** Effort is what costs time. */
const encoders: Readonly<Record<Format, (picture: Sharp, manner: Manner) => Sharp>> = {
  webp: (picture, { isLean }) => picture.webp(isLean ? { quality: 50, alphaQuality: 50, effort: 1 } : { effort: 3 }),
  avif: (picture, { isLean, pixels }) =>
    picture.avif({ quality: isLean ? 35 : 55, effort: isLean || pixels > mostWithEffort ? 0 : 2 }),
  jpeg: (picture, { isLean }) => picture.flatten({ background: '#fff' }).jpeg({ quality: isLean ? 50 : 80 }),
  png: (picture, { isLean }) => picture.png(isLean ? { palette: true, effort: 1 } : {}),
};

/** The library is loaded with the first picture, and keeps nothing of one in memory. */
const load = async () => {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: loaders });
  return sharp;
};

let loaded: ReturnType<typeof load> | undefined;

/** The sides that are asked for, in their proportion and not larger than the picture. */
const sidesOf = ({ width, height, fit }: Size, across: number, down: number) => {
  if (width !== undefined && height !== undefined && fit === 'cover') {
    const scale = Math.min(1, across / width, down / height);
    return { width: width * scale, height: height * scale };
  }
  const scale = Math.min(1, (width ?? across) / across, (height ?? down) / down);
  return { width: across * scale, height: down * scale };
};

/** The same sides, smaller in proportion if they are more than is made. */
const bounded = ({ width, height }: { readonly width: number; readonly height: number }, scale: number) => {
  const most = Math.min(1, mostMadeSide / Math.max(width, height), Math.sqrt(mostMadePixels / (width * height)));
  const side = (length: number): number => Math.max(1, (most < 1 ? Math.floor : Math.round)(length * most * scale));
  return { width: side(width), height: side(height) };
};

export const draw = async ({ bytes, usual, size }: Drawing): Promise<DrawOutcome> => {
  loaded ??= load();
  const sharp = await loaded;
  try {
    // Of what moves the first picture alone, as it costs the same whatever follows.
    const picture = sharp(bytes, { failOn: 'error', limitInputPixels: mostPixels, pages: 1, sequentialRead: true });
    const { autoOrient, width, height, ...kind } = await picture.metadata();
    if (width * height > mostPixelsOf(kind)) return { refused: 'tooManyPixels' };
    const format = size.format ?? usual;
    const sides = sidesOf(size, autoOrient.width, autoOrient.height);
    // `fill` only rounds: the sides are in the picture's proportion, except those that are cut out of it.
    const isCut = size.width !== undefined && size.height !== undefined && size.fit === 'cover';
    for (const { isLean, scale } of attempts) {
      const made = bounded(sides, scale);
      const sized = picture
        .clone()
        .autoOrient()
        .resize({ ...made, fit: isCut ? 'cover' : 'fill', withoutEnlargement: true });
      const manner = { isLean, pixels: made.width * made.height };
      const encoded = await encoders[format](sized, manner).toBuffer();
      if (encoded.length <= mostBytes) return { drawn: { bytes: encoded, contentType: `image/${format}` } };
    }
    return { refused: 'tooManyBytes' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return reason.includes('pixel limit') ? { refused: 'tooManyPixels' } : { refused: 'unreadable', reason };
  }
};

if (process.send) {
  process.on('message', async (drawing: Drawing) => {
    const outcome = await draw(drawing);
    // The parent may have gone: then nobody waits for it.
    process.send?.(outcome, () => undefined);
  });
  process.on('disconnect', () => process.exit());
}
