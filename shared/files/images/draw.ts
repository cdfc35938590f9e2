import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bareEnvironment, codeFolder } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import type { Drawing, Drawn, DrawOutcome, Format } from './draw-picture.ts';
import type { Size } from './variant.ts';

/** What pictures begin with, and the format that they are made into if none is asked for. */
const kinds: readonly { readonly begins: RegExp; readonly usual: Format }[] = [
  { begins: /^\xff\xd8\xff/, usual: 'jpeg' },
  { begins: /^\x89PNG\r\n/, usual: 'png' },
  { begins: /^RIFF[\s\S]{4}WEBP/, usual: 'webp' },
  { begins: /^GIF8[79]a/, usual: 'webp' },
  { begins: /^[\s\S]{4}ftypavi[fs]/, usual: 'webp' },
];

const limitMs = 10_000;

/** An error of one size, which says nothing of the others of the picture. */
export class VariantError extends AppError {}

const notAnImage = (cause?: unknown): AppError =>
  new AppError('NOT_AN_IMAGE', 'Only readable JPEG, PNG, WebP, GIF and AVIF images can be resized.', { cause });

const tooLarge = (): AppError =>
  new AppError(
    'IMAGE_TOO_LARGE',
    'Images of up to 50 megapixels can be resized (progressive JPEG 40, 16 bits 28, AVIF 12.5). Upload a smaller one.',
  );

const refusalOf = (outcome: Exclude<DrawOutcome, { readonly drawn: Drawn }>): AppError => {
  if (outcome.refused === 'unreadable') return notAnImage(outcome.reason);
  if (outcome.refused === 'tooManyPixels') return tooLarge();
  return new VariantError(
    'IMAGE_TOO_LARGE',
    'The resized image is larger than 4.5 MB. Request a smaller size or another format.',
  );
};

/** Lambda's folder has the program as the build bundles it; a source file knows its own folder. */
const program = (): string => {
  const { dirname }: { readonly dirname?: string } = import.meta;
  return dirname === undefined ? join(codeFolder(), 'draw-picture.cjs') : join(dirname, 'draw-picture.ts');
};

/** It parses what strangers upload, so that it gets none of our settings and credentials. */
const start = (): ChildProcess => {
  const child = fork(program(), {
    env: bareEnvironment(),
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // While it waits for a picture it keeps no process alive; it ends with its parent.
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

/** The encoder cannot be stopped from within, so the process that runs it is killed when the time is over. */
const drawIn = async (drawing: Drawing, limit: number): Promise<Drawn> => {
  if (!painter?.connected) painter = start();
  const child = painter;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort('time'), limit);
  const ended = once(child, 'exit', { signal: over.signal }).then(() => over.abort('exit'));
  ended.catch(() => undefined);
  child.channel?.ref();
  try {
    child.send(drawing, () => undefined);
    const [outcome] = (await once(child, 'message', { signal: over.signal })) as [DrawOutcome];
    if ('drawn' in outcome) return outcome.drawn;
    throw refusalOf(outcome);
  } catch (error) {
    if (error instanceof AppError) throw error;
    end(child);
    const why = over.signal.reason === 'exit' ? 'failed' : `took over ${limit / 1000} seconds`;
    const message = `Making this size ${why}. Upload the picture again with fewer pixels, or in another format.`;
    throw new VariantError('SERVICE_UNAVAILABLE', message, { cause: error });
  } finally {
    clearTimeout(timer);
    over.abort();
    child.channel?.unref();
  }
};

let last: Promise<unknown> = Promise.resolve();

/**
 * A picture in a size, upright, in sRGB and without metadata, of at most 2048 × 2048 pixels and 4.5 MB: one at a time,
 * in a process of its own. Over 50 megapixels, progressive JPEG 40, 16 bits a channel 28, AVIF 12.5 → 413
 * `IMAGE_TOO_LARGE`; no JPEG, PNG, WebP, GIF or AVIF, or none that can be read → 415 `NOT_AN_IMAGE`; not done in 10 s →
 * 503 `SERVICE_UNAVAILABLE`.
 */
export const drawSize = (bytes: Uint8Array, size: Size, limit = limitMs): Promise<Drawn> => {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  const kind = kinds.find(({ begins }) => begins.test(start));
  if (!kind) return Promise.reject(notAnImage());
  const made = last.then(() => drawIn({ bytes, usual: kind.usual, size }, limit));
  last = made.catch(() => undefined);
  return made;
};
