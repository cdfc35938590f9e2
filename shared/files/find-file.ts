import type { Project } from '../projects/project.ts';
import { get } from '../table/item.ts';
import { publicUrl } from './bucket-of.ts';
import { nameIn } from './file-path.ts';
import { storageIdOf } from './storage-keys.ts';
import { type FileItem, fileItemKey, filePathOf, refOf } from './upload-items.ts';

/** A confirmed file, as lists show it. */
export interface StoredFile {
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly contentType: string;
  readonly url: string | null;
  readonly createdAt: Date;
}

export const toStoredFile = (project: Project, item: FileItem): StoredFile => {
  const path = filePathOf(project.id, storageIdOf(project.storage), item);
  return {
    path,
    name: nameIn(path),
    size: item.bytes,
    contentType: item.contentType,
    url: publicUrl(project, path),
    createdAt: new Date(item.confirmedAt),
  };
};

/** The confirmed file at a path that `requirePathOf` lets through. */
export const findFile = async (project: Project, filePath: string): Promise<StoredFile | undefined> => {
  const item = await get<FileItem>(fileItemKey(refOf(project, filePath)));
  return item && toStoredFile(project, item);
};
