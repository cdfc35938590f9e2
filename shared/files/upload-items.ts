import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item of the table. */
export type Item = Record<string, AttributeValue>;

/** A DynamoDB string. */
export const text = (value: string) => ({ S: value });
/** A DynamoDB number. */
export const number = (value: number) => ({ N: String(value) });

/**
 * One path under one storage: what is known of it in the table is `upload` (requested), then `file` (confirmed), then
 * nothing.
 */
export interface FileRef {
  readonly projectId: string;
  /** See `storageIdOf`. */
  readonly storageId: string;
  readonly filePath: string;
}

const partition = ({ projectId }: Pick<FileRef, 'projectId'>) => text(`p#${projectId}`);

/** The part of a path that sort keys contain: all of it after the project id. */
const tailOf = ({ projectId, filePath }: FileRef): string => filePath.slice(projectId.length + 1);

/** Prefix of the sort keys of all confirmed files of a storage. */
export const filePrefix = (storageId: string): string => `file#${storageId}#`;

/** Key of the item of a requested upload. */
export const uploadKey = (ref: FileRef) => ({
  pk: partition(ref),
  sk: text(`upload#${ref.storageId}#${tailOf(ref)}`),
});

/** Key of the item of a confirmed file. */
export const fileItemKey = (ref: FileRef) => ({
  pk: partition(ref),
  sk: text(filePrefix(ref.storageId) + tailOf(ref)),
});

/**
 * The counter of one storage of a project: `held` (reserved and confirmed bytes), `used` (confirmed bytes), `files`.
 */
export const quotaKey = (place: Pick<FileRef, 'projectId' | 'storageId'>) => ({
  pk: partition(place),
  sk: text(`quota#storage#${place.storageId}`),
});

/** The path of a confirmed file, from its item. */
export const filePathOf = (projectId: string, storageId: string, item: Item): string =>
  `${projectId}/${(item.sk?.S ?? '').slice(filePrefix(storageId).length)}`;

/** A number of an item; 0 if it is missing. */
export const numberIn = (item: Item | undefined, name: string): number => Number(item?.[name]?.N ?? 0);
