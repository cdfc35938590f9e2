import { clock } from '../../core/clock.ts';
import { transact } from '../../table/transact.ts';
import { putDueEntry } from '../due-uploads.ts';
import { fileKey, fileKeys, type Visibility } from '../file-path.ts';
import { type FileRef, fileItemKey } from '../upload-items.ts';
import { count } from '../upload-states.ts';

/** The most sizes of one file that are kept: whoever has its address could make thousands. */
const mostKept = 50;

export interface NewSize {
  readonly name: string;
  readonly bytes: number;
  readonly visibility: Visibility;
}

/** Where a size is kept: below its file. */
export const sizeKey = (filePath: string, visibility: Visibility, name: string): string =>
  `${fileKey(filePath, visibility)}/${name}`;

/** Everywhere that some sizes of a file may lie. */
export const sizeKeys = (filePath: string, names: Iterable<string> = []): string[] => {
  const all = [...names];
  return fileKeys(filePath).flatMap((key) => all.map((name) => `${key}/${name}`));
};

/**
 * Charges a size that is about to be kept, once. False where it is not to be: it is charged already, the storage or the
 * file has no room (`limit` in bytes), or the file was deleted or is, or is becoming, public or private.
 */
export const chargeSize = async (
  ref: FileRef,
  { name, bytes, visibility }: NewSize,
  limit: number,
): Promise<boolean> => {
  if (bytes > limit) return false;
  const names = new Set([name]);
  const isThere = visibility === 'public' ? 'attribute_not_exists(visibility)' : 'visibility = :visibility';
  const refusal = await transact([
    {
      update: fileItemKey(ref),
      change: 'ADD sizes :names, sizeBytes :bytes',
      condition: `attribute_exists(pk) AND ${isThere} AND NOT contains(sizes, :name) AND (attribute_not_exists(sizes) OR size(sizes) < :most) AND (attribute_not_exists(mover) OR movingUntil < :now)`,
      values: {
        names,
        name,
        bytes,
        most: mostKept,
        now: clock.now(),
        visibility: visibility === 'public' ? undefined : visibility,
      },
    },
    {
      ...count(ref, { held: bytes, used: bytes }),
      condition: 'held <= :room',
      values: { held: bytes, used: bytes, room: limit - bytes },
    },
    // Whoever dies before the bytes are there, or puts them where a file no longer is, leaves that to the sweep.
    putDueEntry(ref, 'sized', { sizes: names }),
  ]);
  return refusal === undefined;
};

/** The sizes of a file that are kept, and their bytes. */
export interface KeptSizes {
  readonly sizes?: ReadonlySet<string> | undefined;
  readonly sizeBytes?: number | undefined;
}

/** Gives back what the sizes of a file were charged. False where there are others by now, or none. */
export const dropSizes = async (ref: FileRef, { sizes, sizeBytes = 0 }: KeptSizes): Promise<boolean> => {
  if (!sizes) return false;
  const refusal = await transact([
    {
      update: fileItemKey(ref),
      change: 'REMOVE sizes, sizeBytes',
      condition: 'sizes = :sizes AND sizeBytes = :bytes',
      values: { sizes, bytes: sizeBytes },
    },
    count(ref, { held: -sizeBytes, used: -sizeBytes }),
  ]);
  return refusal === undefined;
};
