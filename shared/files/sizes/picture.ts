import type { Metadata, Sharp } from 'sharp';
import { AppError } from '../../core/errors.ts';
import type { Size } from './size.ts';

type Format = NonNullable<Size['format']>;

/** What pictures begin with, and the format that they are made into where none is asked for. */
const kinds: readonly { readonly begins: RegExp; readonly usual: Format }[] = [
  { begins: /^\xff\xd8\xff/, usual: 'jpeg' },
  { begins: /^\x89PNG\r\n/, usual: 'png' },
  { begins: /^RIFF[\s\S]{4}WEBP/, usual: 'webp' },
  { begins: /^GIF8[79]a/, usual: 'webp' },
  { begins: /^[\s\S]{4}ftypavi[fs]/, usual: 'webp' },
];

/** What reads these, by libvips' names; nothing else of it is let near a file. */
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

const limitSeconds = 10;

/** What a function can answer. Only a PNG may have more, of which one with 256 colours never has. */
const mostBytes = 4_500_000;

/** Effort is what costs time: these take a tenth of a second a megapixel, or less. */
const encoders: Readonly<Record<Format, (picture: Sharp) => Sharp>> = {
  webp: (picture) => picture.webp({ quality: 80, effort: 3 }),
  avif: (picture) => picture.avif({ quality: 55, effort: 2 }),
  jpeg: (picture) => picture.flatten({ background: '#fff' }).jpeg({ quality: 80 }),
  png: (picture) => picture.png(),
};

/** Loaded with the first picture, for all that follow: one at a time, and nothing of it is kept in memory. */
const load = async () => {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: loaders });
  return sharp;
};

let loaded: ReturnType<typeof load> | undefined;

const notAnImage = (cause?: unknown): AppError =>
  new AppError('NOT_AN_IMAGE', 'Sizes are made of JPEG, PNG, WebP, GIF and AVIF pictures that can be read.', { cause });

const tooLarge = (): AppError =>
  new AppError(
    'IMAGE_TOO_LARGE',
    'Sizes are made of pictures of up to 50 megapixels, progressive JPEG up to 40, 16 bits up to 28, AVIF up to 12.5. Upload a smaller one.',
  );

const refusalOf = (error: unknown): AppError => {
  if (error instanceof AppError) return error;
  const message = error instanceof Error ? error.message : '';
  if (message.includes('pixel limit')) return tooLarge();
  if (message.includes('timeout')) {
    return new AppError('SERVICE_UNAVAILABLE', 'Making this size took over 10 seconds.', { cause: error });
  }
  return notAnImage(error);
};

/** The sides of what is cut out, in the proportion that is asked for and not larger than the picture. */
const sidesWithin = ({ width, height, fit }: Size, across: number, down: number) => {
  if (width === undefined || height === undefined || fit === 'contain') return { width, height };
  const scale = Math.min(1, across / width, down / height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
};

const draw = async (bytes: Uint8Array, usual: Format, size: Size) => {
  loaded ??= load();
  const sharp = await loaded;
  try {
    // Of what moves the first picture alone, as it costs the same whatever follows.
    const picture = sharp(bytes, { failOn: 'error', limitInputPixels: mostPixels, pages: 1, sequentialRead: true });
    const { autoOrient, width, height, ...kind } = await picture.metadata();
    if (width * height > mostPixelsOf(kind)) throw tooLarge();
    const format = size.format ?? usual;
    const sized = picture
      .timeout({ seconds: limitSeconds })
      .autoOrient()
      .resize({
        ...sidesWithin(size, autoOrient.width, autoOrient.height),
        fit: size.fit === 'contain' ? 'inside' : 'cover',
        withoutEnlargement: true,
      });
    let made = await encoders[format](sized).toBuffer();
    if (made.length > mostBytes) made = await sized.png({ palette: true, effort: 1 }).toBuffer();
    return { bytes: made, contentType: `image/${format}` };
  } catch (error) {
    throw refusalOf(error);
  }
};

let last: Promise<unknown> = Promise.resolve();

/**
 * A picture in a size, upright, in sRGB and without metadata. Over 50 megapixels, progressive JPEG 40, 16 bits a
 * channel 28, AVIF 12.5 → 413 `IMAGE_TOO_LARGE`; no JPEG, PNG, WebP, GIF or AVIF, or none that can be read → 415
 * `NOT_AN_IMAGE`; not done in 10 s → 503 `SERVICE_UNAVAILABLE`.
 */
export const drawSize = (bytes: Uint8Array, size: Size): ReturnType<typeof draw> => {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const kind = kinds.find(({ begins }) => begins.test(start));
  if (!kind) return Promise.reject(notAnImage());
  const made = last.then(() => draw(bytes, kind.usual, size));
  last = made.catch(() => undefined);
  return made;
};
