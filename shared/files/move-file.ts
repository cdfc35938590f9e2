import { randomUUID } from 'node:crypto';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { write } from '../persistence/table.ts';
import type { Project } from '../projects/project.ts';
import type { Bucket } from './bucket.ts';
import { bucketOf } from './bucket-of.ts';
import { longestLinkMs, putDueEntry } from './due-uploads.ts';
import {
  addressOf,
  dispositionOf,
  type FileItem,
  type FileRef,
  fileItemKey,
  fileKey,
  fileNotFound,
  type Named,
  otherThan,
  requireRef,
  type Visibility,
} from './file-items.ts';
import { removeSizes } from './images/store.ts';
import { namesOf } from './images/variant-items.ts';

/** Longer than any request runs: what moves a file is done with it, or dead, by then. */
const moveMs = 5 * 60_000;

const beingMoved = (): AppError =>
  new AppError('TOO_MANY_WRITERS', 'The visibility of this file is being changed. Try again.', {
    retryAfter: 1,
  });

const held = 'attribute_exists(pk) AND mover = :mover';

export const release = async (ref: FileRef, mover: string): Promise<void> => {
  await write({ update: fileItemKey(ref), change: 'REMOVE movingUntil, mover', condition: held, values: { mover } });
};

/** One at a time has a file: whoever removes a copy of it must know that it is not the one that is kept. */
export const claim = async (ref: FileRef) => {
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
  const { visibility = 'public', openedAt, name, sizes, cached, sizeBytes, putting } = item ?? {};
  const kept = { sizes, cached, sizeBytes, putting };
  return { done, mover, known: item !== undefined, visibility, openedAt, name, kept };
};

/** Puts a copy where a file belongs that is at `from`; the same that is there already will do, anything else goes. */
const copyTo = async (bucket: Bucket, from: string, to: string, disposition: string): Promise<void> => {
  for (const left of [2, 1]) {
    const source = await bucket.head(from);
    if (!source) throw fileNotFound();
    const { etag, contentType } = source;
    if ((await bucket.copy({ from, to, etag, contentType, disposition })) === 'copied') return;
    if ((await bucket.head(to))?.etag === etag) return;
    if (left > 1) await bucket.remove([to]);
  }
  throw beingMoved();
};

/** False where the file was deleted meanwhile. */
const moveObject = async (
  bucket: Bucket,
  ref: FileRef,
  { mover, name }: Named & { readonly mover: string },
  visibility: Visibility,
): Promise<boolean> => {
  const to = fileKey(ref.filePath, visibility);
  await copyTo(bucket, fileKey(ref.filePath, otherThan(visibility)), to, dispositionOf(ref.filePath, { name }));
  const { done, item } = await write<FileItem>({
    update: fileItemKey(ref),
    ...(visibility === 'private'
      ? { change: 'SET visibility = :visibility', values: { mover, visibility } }
      : { change: 'SET openedAt = :now REMOVE visibility', values: { mover, now: clock.now() } }),
    condition: held,
  });
  if (done) return true;
  if (item) throw beingMoved();
  await bucket.remove([to]);
  return false;
};

/**
 * Makes a confirmed file public or private (contract 4, "Visibility"): copies it to where such files are, says so in
 * the table, removes it from where it was public; where it was private links go on opening it until they end. A run
 * that dies is finished by a repeat, or by the sweep. Malformed, foreign, unconfirmed or gone → 404 `FILE_NOT_FOUND`;
 * while another run is at it → 503 `TOO_MANY_WRITERS`.
 */
export const changeVisibility = async (project: Project, filePath: string, visibility: Visibility) => {
  const ref = requireRef(project, filePath);
  const bucket = await bucketOf(project);
  const { done, known, mover, visibility: present, name, kept } = await claim(ref);
  if (!done) throw known ? beingMoved() : fileNotFound();
  try {
    // Before anything is copied, so that whatever a death leaves behind is looked for.
    await write(putDueEntry(ref, 'moved', { sizes: namesOf(kept) }));
    if (visibility === 'public') await write(putDueEntry(ref, 'opened'));
    if (present !== visibility) {
      // Sizes are made anew where the file is then; while it is claimed none is kept.
      if (!(await removeSizes(ref, kept))) throw beingMoved();
      if (!(await moveObject(bucket, ref, { mover, name }, visibility))) throw fileNotFound();
    }
    if (visibility === 'private') await bucket.remove([fileKey(filePath, 'public')]);
  } finally {
    await release(ref, mover);
  }
  return { path: filePath, visibility, url: addressOf(project, filePath, visibility) };
};

/**
 * For the sweep: where a copy of a confirmed file may be that nobody needs any more. Nobody moves the file until
 * `release`; `undefined` where somebody else has it, who may have died.
 */
export const claimLeftover = async (ref: FileRef) => {
  const { done, mover, visibility, openedAt = 0 } = await claim(ref);
  if (!done) return undefined;
  const hasLinks = visibility === 'public' && openedAt + longestLinkMs > clock.now();
  const keys = hasLinks ? [] : [fileKey(ref.filePath, otherThan(visibility))];
  return { keys, release: () => release(ref, mover) };
};
