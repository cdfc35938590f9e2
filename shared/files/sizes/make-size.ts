import { findProjectById } from '../../projects/find-project-by-id.ts';
import { plans } from '../../projects/plans.ts';
import { get } from '../../table/item.ts';
import { managedBucket } from '../bucket.ts';
import { fileKey, fileNotFound, isPathOf, type Visibility } from '../file-path.ts';
import { managedStorageId } from '../storage-keys.ts';
import { type FileItem, type FileRef, fileItemKey } from '../upload-items.ts';
import { chargeSize, sizeKey } from './keep-size.ts';
import { drawSize } from './picture.ts';
import { parseSize } from './size.ts';

/** A size of a picture, which is as the bucket has it where it is kept. */
export interface MadeSize {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly isKept: boolean;
}

const address = /^(?<folder>\/private)?\/(?<filePath>(?<projectId>[0-9a-f]{24})\/[^/]+)\/(?<name>[a-z0-9_]+)$/;

/** What an address of the origin names; what is none → 404 `FILE_NOT_FOUND`. */
const readAddress = (path: string) => {
  const { folder, filePath = '', projectId = '', name = '' } = address.exec(path)?.groups ?? {};
  const size = parseSize(name);
  if (!size || !isPathOf(projectId, filePath)) throw fileNotFound();
  const visibility: Visibility = folder === undefined ? 'public' : 'private';
  return { ref: { projectId, storageId: managedStorageId, filePath } satisfies FileRef, visibility, name, size };
};

const itemAt = (ref: FileRef): Promise<FileItem | undefined> => get<FileItem>(fileItemKey(ref));

const isPlaced = (item: FileItem | undefined, visibility: Visibility): boolean =>
  item !== undefined && (item.visibility ?? 'public') === visibility;

/** Puts a size beside its file and charges it; false where there is no room for it, or it is there. */
const keep = async (ref: FileRef, visibility: Visibility, name: string, made: Omit<MadeSize, 'isKept'>) => {
  const project = await findProjectById(ref.projectId);
  if (!project) throw fileNotFound();
  const { storageBytes } = plans[project.plan];
  if (!(await chargeSize(ref, { name, visibility, bytes: made.bytes.length }, storageBytes))) return false;
  const key = sizeKey(ref.filePath, visibility, name);
  await managedBucket.put(key, made.bytes, made.contentType);
  const item = await itemAt(ref);
  const isWanted = isPlaced(item, visibility) && item?.sizes?.has(name) === true;
  if (!isWanted) await managedBucket.remove([key]);
  return isWanted;
};

/**
 * The size of a hosted picture that an address of the files' origin names, `[/private]/<path>/<name>`, which is made and
 * kept. Who may ask for it was decided before. No such file there → 404 `FILE_NOT_FOUND`; refusals as `drawSize`.
 */
export const makeSize = async (path: string): Promise<MadeSize> => {
  const { ref, visibility, name, size } = readAddress(path);
  const item = await itemAt(ref);
  const isHere = isPlaced(item, visibility);
  // Where a file is public, links that were signed before open what is still at its private place.
  if (!item || (!isHere && visibility === 'public')) throw fileNotFound();
  const source = await managedBucket.start(fileKey(ref.filePath, visibility), item.etag, item.bytes);
  if (!source) throw fileNotFound();
  const made = await drawSize(source, size);
  return { ...made, isKept: isHere && !item.sizes?.has(name) && (await keep(ref, visibility, name, made)) };
};
