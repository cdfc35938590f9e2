import type { Metadata, Sharp } from 'sharp';
import type { ImageSize } from './variant.ts';

// Runs in a child process of `draw.ts`, which sends it one image at a time and may kill it.

export type ImageFormat = NonNullable<ImageSize['format']>;

/** `usual`: the format if none is requested. */
export interface ResizeRequest {
  readonly bytes: Uint8Array;
  readonly usual: ImageFormat;
  readonly size: ImageSize;
}

export interface ResizedImage {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

export type ResizeOutcome =
  | { readonly drawn: ResizedImage }
  | { readonly refused: 'tooManyPixels' | 'tooManyBytes' }
  | { readonly refused: 'unreadable'; readonly reason: string };

/** libvips loaders of the accepted formats; all others are blocked. */
const loaders = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((name) => `VipsForeignLoad${name}Buffer`);

const maxPixels = 50_000_000;

/**
 * Lower limits for images that would take more than 512 MiB: AVIF takes up to 25 bytes per pixel, 16-bit channels twice
 * as much, and a progressive JPEG holds all coefficients.
 */
const maxPixelsOf = ({
  format,
  depth,
  isProgressive,
}: Pick<Metadata, 'format' | 'depth' | 'isProgressive'>): number => {
  if (format === 'heif') return 12_500_000;
  if (format === 'jpeg' && isProgressive) return 40_000_000;
  return depth === 'ushort' ? 28_000_000 : maxPixels;
};

/** Largest variant, with sides that every format allows. */
const maxVariantPixels = 2048 * 2048;
const maxVariantSide = 8192;

/** Limit of a function's response. */
const maxBytes = 4_500_000;

/** Tried until the bytes fit: lower quality (256 colours for PNG), then half the sides. */
const attempts = [
  { isLean: false, scale: 1 },
  { isLean: true, scale: 1 },
  { isLean: true, scale: 0.5 },
] as const;

interface EncoderOptions {
  readonly isLean: boolean;
  readonly pixels: number;
}

/** AVIF of noise takes 1 s per megapixel with effort 2, a fifth of that with 0. */
const maxPixelsWithEffort = 1_000_000;

/** Effort is what costs time. */
const encoders: Readonly<Record<ImageFormat, (picture: Sharp, manner: EncoderOptions) => Sharp>> = {
  webp: (picture, { isLean }) => picture.webp(isLean ? { quality: 50, alphaQuality: 50, effort: 1 } : { effort: 3 }),
  avif: (picture, { isLean, pixels }) =>
    picture.avif({ quality: isLean ? 35 : 55, effort: isLean || pixels > maxPixelsWithEffort ? 0 : 2 }),
  jpeg: (picture, { isLean }) => picture.flatten({ background: '#fff' }).jpeg({ quality: isLean ? 50 : 80 }),
  png: (picture, { isLean }) => picture.png(isLean ? { palette: true, effort: 1 } : {}),
};

/** Loaded with the first image; caches nothing. */
const load = async () => {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: loaders });
  return sharp;
};

let loaded: ReturnType<typeof load> | undefined;

/** The requested sides in proportion, not larger than the image. */
const sidesOf = ({ width, height, fit }: ImageSize, across: number, down: number) => {
  if (width !== undefined && height !== undefined && fit === 'cover') {
    const scale = Math.min(1, across / width, down / height);
    return { width: width * scale, height: height * scale };
  }
  const scale = Math.min(1, (width ?? across) / across, (height ?? down) / down);
  return { width: across * scale, height: down * scale };
};

const boundedSides = ({ width, height }: { readonly width: number; readonly height: number }, scale: number) => {
  const most = Math.min(1, maxVariantSide / Math.max(width, height), Math.sqrt(maxVariantPixels / (width * height)));
  const side = (length: number): number => Math.max(1, (most < 1 ? Math.floor : Math.round)(length * most * scale));
  return { width: side(width), height: side(height) };
};

export const draw = async ({ bytes, usual, size }: ResizeRequest): Promise<ResizeOutcome> => {
  loaded ??= load();
  const sharp = await loaded;
  try {
    // Only the first frame of an animation.
    const picture = sharp(bytes, { failOn: 'error', limitInputPixels: maxPixels, pages: 1, sequentialRead: true });
    const { autoOrient, width, height, ...kind } = await picture.metadata();
    if (width * height > maxPixelsOf(kind)) return { refused: 'tooManyPixels' };
    const format = size.format ?? usual;
    const sides = sidesOf(size, autoOrient.width, autoOrient.height);
    // `fill` only rounds, because the sides are in proportion, except for cut variants.
    const isCut = size.width !== undefined && size.height !== undefined && size.fit === 'cover';
    for (const { isLean, scale } of attempts) {
      const made = boundedSides(sides, scale);
      const sized = picture
        .clone()
        .autoOrient()
        .resize({ ...made, fit: isCut ? 'cover' : 'fill', withoutEnlargement: true });
      const manner = { isLean, pixels: made.width * made.height };
      const encoded = await encoders[format](sized, manner).toBuffer();
      if (encoded.length <= maxBytes) return { drawn: { bytes: encoded, contentType: `image/${format}` } };
    }
    return { refused: 'tooManyBytes' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return reason.includes('pixel limit') ? { refused: 'tooManyPixels' } : { refused: 'unreadable', reason };
  }
};

if (process.send) {
  process.on('message', async (drawing: ResizeRequest) => {
    const outcome = await draw(drawing);
    process.send?.(outcome, () => undefined);
  });
  process.on('disconnect', () => process.exit());
}
