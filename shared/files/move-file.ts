import { randomUUID } from 'node:crypto';
import { clock } from '../core/clock.ts';
import { AppError, validationFailed } from '../core/errors.ts';
import { write } from '../persistence/table.ts';
import type { Project } from '../projects/project.ts';
import type { Bucket } from './bucket.ts';
import { bucketOf } from './bucket-of.ts';
import { maxLinkMs, putDueEntry } from './due-uploads.ts';
import {
  addressOf,
  dispositionOf,
  type FileItem,
  type FileRef,
  fileItemKey,
  fileKey,
  fileNotFound,
  type Named,
  otherVisibility,
  requireRef,
  type Visibility,
} from './file-items.ts';
import { removeVariants } from './images/store.ts';
import { variantNames } from './images/variant-items.ts';

/** Longer than any request, so that a holder has finished or crashed by then. */
const moveMs = 5 * 60_000;

const fileBusy = (): AppError =>
  new AppError('TOO_MANY_WRITERS', 'The visibility of this file is being changed. Retry.', {
    retryAfter: 1,
  });

/** The error of making a file of a document public (400). */
export const alwaysPrivate = (): AppError =>
  validationFailed({ field: 'visibility', message: 'visibility must be private for a file of a document' });

const isHeld = 'attribute_exists(pk) AND mover = :mover';

export const releaseFile = async (ref: FileRef, mover: string): Promise<void> => {
  await write({ update: fileItemKey(ref), change: 'REMOVE movingUntil, mover', condition: isHeld, values: { mover } });
};

/** Exclusive hold on a file: removing a copy requires knowing which one is kept. */
export const holdFile = async (ref: FileRef) => {
  const mover = randomUUID();
  const { done, item } = await write<FileItem>(
    {
      update: fileItemKey(ref),
      change: 'SET movingUntil = :until, mover = :mover',
      condition: 'attribute_exists(pk) AND (attribute_not_exists(mover) OR movingUntil < :now OR mover = :mover)',
      values: { until: clock.now() + moveMs, now: clock.now(), mover },
    },
    'ALL_NEW',
  );
  const { visibility = 'public', openedAt, name, of, sizes, cached, sizeBytes, putting } = item ?? {};
  const kept = { sizes, cached, sizeBytes, putting };
  return { done, mover, known: item !== undefined, visibility, openedAt, name, of, kept };
};

/** Copies `from` to `to`. An identical object at `to` is accepted; another one is replaced. */
const copyTo = async (bucket: Bucket, from: string, to: string, disposition: string): Promise<void> => {
  for (const left of [2, 1]) {
    const source = await bucket.head(from);
    if (!source) throw fileNotFound();
    const { etag, contentType } = source;
    if ((await bucket.copy({ from, to, etag, contentType, disposition })) === 'copied') return;
    if ((await bucket.head(to))?.etag === etag) return;
    if (left > 1) await bucket.remove([to]);
  }
  throw fileBusy();
};

/** False if the file was deleted meanwhile. */
const moveObject = async (
  bucket: Bucket,
  ref: FileRef,
  { mover, name }: Named & { readonly mover: string },
  visibility: Visibility,
): Promise<boolean> => {
  const to = fileKey(ref.filePath, visibility);
  await copyTo(bucket, fileKey(ref.filePath, otherVisibility(visibility)), to, dispositionOf(ref.filePath, { name }));
  const { done, item } = await write<FileItem>({
    update: fileItemKey(ref),
    ...(visibility === 'private'
      ? { change: 'SET visibility = :visibility', values: { mover, visibility } }
      : { change: 'SET openedAt = :now REMOVE visibility', values: { mover, now: clock.now() } }),
    condition: isHeld,
  });
  if (done) return true;
  if (item) throw fileBusy();
  await bucket.remove([to]);
  return false;
};

/**
 * Makes a confirmed file public or private: copies it, updates the table, removes the public copy; the private copy
 * stays while links are valid. A crash is repaired by a repeat or the cleanup. Errors: 404 `FILE_NOT_FOUND`, 503
 * `TOO_MANY_WRITERS`, 400 for a public file of a document.
 */
export const changeVisibility = async (project: Project, filePath: string, visibility: Visibility) => {
  const ref = requireRef(project, filePath);
  const bucket = await bucketOf(project);
  const { done, known, mover, visibility: present, name, of, kept } = await holdFile(ref);
  if (!done) throw known ? fileBusy() : fileNotFound();
  try {
    if (of !== undefined && visibility === 'public') throw alwaysPrivate();
    // Scheduled before the copy, so that the cleanup handles a crash.
    await write(putDueEntry(ref, 'moved', { sizes: variantNames(kept) }));
    if (visibility === 'public') await write(putDueEntry(ref, 'opened'));
    if (present !== visibility) {
      // Variants are made again at the new place.
      if (!(await removeVariants(ref, kept))) throw fileBusy();
      if (!(await moveObject(bucket, ref, { mover, name }, visibility))) throw fileNotFound();
    }
    if (visibility === 'private') await bucket.remove([fileKey(filePath, 'public')]);
  } finally {
    await releaseFile(ref, mover);
  }
  return { path: filePath, visibility, url: addressOf(project, filePath, visibility) };
};

/** For the cleanup: keys of unneeded copies. The file is held until `releaseFile`; `undefined` if another run holds it. */
export const holdLeftover = async (ref: FileRef) => {
  const { done, mover, visibility, openedAt = 0 } = await holdFile(ref);
  if (!done) return undefined;
  const hasLinks = visibility === 'public' && openedAt + maxLinkMs > clock.now();
  const keys = hasLinks ? [] : [fileKey(ref.filePath, otherVisibility(visibility))];
  return { keys, release: () => releaseFile(ref, mover) };
};
