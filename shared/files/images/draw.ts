import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { clock } from '../../core/clock.ts';
import { bareEnvironment, codeFolder } from '../../core/config.ts';
import { AppError, statusOf } from '../../core/errors.ts';
import { write } from '../../persistence/table.ts';
import { type FileItem, type FileRef, fileItemKey } from '../file-items.ts';
import type { ImageFormat, ResizedImage, ResizeOutcome, ResizeRequest } from './draw-picture.ts';
import type { ImageSize } from './variant.ts';

/** First bytes of the formats, and the default format of their variants. */
const kinds: readonly { readonly begins: RegExp; readonly usual: ImageFormat }[] = [
  { begins: /^\xff\xd8\xff/, usual: 'jpeg' },
  { begins: /^\x89PNG\r\n/, usual: 'png' },
  { begins: /^RIFF[\s\S]{4}WEBP/, usual: 'webp' },
  { begins: /^GIF8[79]a/, usual: 'webp' },
  { begins: /^[\s\S]{4}ftypavi[fs]/, usual: 'webp' },
];

const limitMs = 10_000;

/** An error of one variant, not of the whole image. */
export class VariantError extends AppError {}

const notAnImage = (cause?: unknown): AppError =>
  new AppError('NOT_AN_IMAGE', 'Only readable JPEG, PNG, WebP, GIF and AVIF images can be resized.', { cause });

const tooLarge = (): AppError =>
  new AppError(
    'IMAGE_TOO_LARGE',
    'Images of up to 50 megapixels can be resized (progressive JPEG 40, 16 bits 28, AVIF 12.5). Upload a smaller one.',
  );

const errorFor = (outcome: Exclude<ResizeOutcome, { readonly drawn: ResizedImage }>): AppError => {
  if (outcome.refused === 'unreadable') return notAnImage(outcome.reason);
  if (outcome.refused === 'tooManyPixels') return tooLarge();
  return new VariantError(
    'IMAGE_TOO_LARGE',
    'The resized image is larger than 4.5 MB. Request a smaller size or another format.',
  );
};

/** On Lambda the program is bundled into the function's folder. */
const program = (): string => {
  const { dirname }: { readonly dirname?: string } = import.meta;
  return dirname === undefined ? join(codeFolder(), 'draw-picture.cjs') : join(dirname, 'draw-picture.ts');
};

/** It parses untrusted files, so it gets none of our settings and credentials. */
const start = (): ChildProcess => {
  const child = fork(program(), {
    env: bareEnvironment(),
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // An idle child does not keep this process alive, and ends with it.
  child.on('error', () => undefined);
  child.unref();
  child.channel?.unref();
  return child;
};

let painter: ChildProcess | undefined;

const end = (child: ChildProcess): void => {
  child.kill('SIGKILL');
  if (painter === child) painter = undefined;
};

/** The encoder cannot be cancelled, so its process is killed after `limit`. */
const drawIn = async (drawing: ResizeRequest, limit: number): Promise<ResizedImage> => {
  if (!painter?.connected) painter = start();
  const child = painter;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort('time'), limit);
  const ended = once(child, 'exit', { signal: over.signal }).then(() => over.abort('exit'));
  ended.catch(() => undefined);
  child.channel?.ref();
  try {
    child.send(drawing, () => undefined);
    const [outcome] = (await once(child, 'message', { signal: over.signal })) as [ResizeOutcome];
    if ('drawn' in outcome) return outcome.drawn;
    throw errorFor(outcome);
  } catch (error) {
    if (error instanceof AppError) throw error;
    end(child);
    const why = over.signal.reason === 'exit' ? 'failed' : `took over ${limit / 1000} seconds`;
    const message = `Making this size ${why}. Upload the image again with fewer pixels, or in another format.`;
    throw new VariantError('SERVICE_UNAVAILABLE', message, { cause: error });
  } finally {
    clearTimeout(timer);
    over.abort();
    child.channel?.unref();
  }
};

let last: Promise<unknown> = Promise.resolve();

/**
 * Resizes an image: upright, sRGB, without metadata, at most 2048 × 2048 pixels and 4.5 MB, one at a time in a child
 * process. Errors: 413 `IMAGE_TOO_LARGE` over 50 megapixels (progressive JPEG 40, 16-bit 28, AVIF 12.5), 415
 * `NOT_AN_IMAGE`, 503 `SERVICE_UNAVAILABLE` after 10 s.
 */
export const resizeImage = (bytes: Uint8Array, size: ImageSize, limit = limitMs): Promise<ResizedImage> => {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const kind = kinds.find(({ begins }) => begins.test(start));
  if (!kind) return Promise.reject(notAnImage());
  const made = last.then(() => drawIn({ bytes, usual: kind.usual, size }, limit));
  last = made.catch(() => undefined);
  return made;
};

/** How long a failed image or variant is rejected without another try. */
const failureMs = 10 * 60_000;

/** Timeouts of single variants after which the whole image is rejected. */
const maxTimeouts = 3;

const codes = ['NOT_AN_IMAGE', 'IMAGE_TOO_LARGE', 'SERVICE_UNAVAILABLE'] as const;

type Code = (typeof codes)[number];

interface StoredFailure {
  readonly code: Code;
  /** In ms since 1970. */
  readonly until: number;
}

const toStoredFailure = (code: string | undefined, until: number): StoredFailure[] => {
  const known = codes.find((one) => one === code);
  return known && until > clock.now() ? [{ code: known, until }] : [];
};

const failedVariants = ({ unmadeSizes: sizes = new Set() }: FileItem) =>
  [...sizes].flatMap((entry) => {
    const [name, until, code] = entry.split('@');
    return toStoredFailure(code, Number(until)).map((one) => ({ ...one, name, entry }));
  });

const errorOf = ({ code, until }: StoredFailure, what: string): AppError => {
  const message = `${what} could not be created a few minutes ago. Upload a smaller or a valid image.`;
  const retryAfter = Math.ceil((until - clock.now()) / 1000);
  return new AppError(code, message, statusOf[code] < 500 ? {} : { retryAfter });
};

/** Throws the stored error if the image or this variant failed recently. */
export const requireNoFailure = (item: FileItem, name: string): void => {
  const [whole] = toStoredFailure(item.unmade, item.unmadeUntil ?? 0);
  if (whole) throw errorOf(whole, 'Sizes of this image');
  const sizes = failedVariants(item);
  const own = sizes.find((size) => size.name === name);
  if (own) throw errorOf(own, 'This size');
  const [timeout, ...others] = sizes.filter(({ code }) => code === 'SERVICE_UNAVAILABLE');
  if (timeout && others.length + 1 >= maxTimeouts) throw errorOf(timeout, 'Several sizes of this image');
};

/** Limit per file; expired entries go first. */
const maxEntries = 50;

/** Stores with the file that its image, or only this variant, cannot be made. */
export const storeFailure = async (ref: FileRef, name: string, error: AppError): Promise<void> => {
  const until = clock.now() + failureMs;
  const update = fileItemKey(ref);
  if (!(error instanceof VariantError)) {
    const values = { code: error.code, until };
    const change = 'SET unmade = :code, unmadeUntil = :until';
    await write({ update, change, condition: 'attribute_exists(pk)', values });
    return;
  }
  const entries = new Set([`${name}@${until}@${error.code}`]);
  const { done, item } = await write<FileItem>({
    update,
    change: 'ADD unmadeSizes :entries',
    condition: 'attribute_exists(pk) AND (attribute_not_exists(unmadeSizes) OR size(unmadeSizes) < :max)',
    values: { entries, max: maxEntries },
  });
  if (done || !item) return;
  const left = failedVariants(item).map(({ entry }) => entry);
  await write({
    update,
    change: 'SET unmadeSizes = :entries',
    condition: 'attribute_exists(pk)',
    values: { entries: new Set([...left.slice(-maxEntries), ...entries]) },
  });
};
