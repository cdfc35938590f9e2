import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import type { Project } from '../projects/project.ts';
import { publicUrl } from './bucket-of.ts';
import { nameIn } from './file-path.ts';
import { storageIdOf } from './storage-keys.ts';
import { fileItemKey, filePathOf, type Item, numberIn } from './upload-items.ts';

/** A confirmed file, as lists show it. */
export interface StoredFile {
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly contentType: string;
  readonly url: string | null;
  /** When it was confirmed. */
  readonly createdAt: Date;
}

/** The file of an item. */
export const toStoredFile = (project: Project, item: Item): StoredFile => {
  const path = filePathOf(project.id, storageIdOf(project.storage), item);
  return {
    path,
    name: nameIn(path),
    size: numberIn(item, 'bytes'),
    contentType: item.contentType?.S ?? '',
    url: publicUrl(project, path),
    createdAt: new Date(numberIn(item, 'confirmedAt')),
  };
};

/** The confirmed file at a path that `requirePathOf` lets through. */
export const findFile = async (project: Project, filePath: string): Promise<StoredFile | undefined> => {
  const ref = { projectId: project.id, storageId: storageIdOf(project.storage), filePath };
  const { Item } = await onTable((client, TableName) =>
    client.send(new GetItemCommand({ TableName, Key: fileItemKey(ref), ConsistentRead: true })),
  );
  return Item && toStoredFile(project, Item);
};
