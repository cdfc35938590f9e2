import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Record<string, AttributeValue>;

export const text = (value: string) => ({ S: value });
export const number = (value: number) => ({ N: String(value) });

/** One path under one storage: what is known of it in the table is `upload` (requested), then `file` (confirmed), then nothing. */
export interface FileRef {
  readonly projectId: string;
  /** See `storageIdOf`. */
  readonly storageId: string;
  readonly filePath: string;
}

const partition = ({ projectId }: Pick<FileRef, 'projectId'>) => text(`p#${projectId}`);

/** What a sort key holds of a path: all but the project's id, with which it begins. */
const tailOf = ({ projectId, filePath }: FileRef): string => filePath.slice(projectId.length + 1);

export const filePrefix = (storageId: string): string => `file#${storageId}#`;

export const uploadKey = (ref: FileRef) => ({
  pk: partition(ref),
  sk: text(`upload#${ref.storageId}#${tailOf(ref)}`),
});

export const fileItemKey = (ref: FileRef) => ({
  pk: partition(ref),
  sk: text(filePrefix(ref.storageId) + tailOf(ref)),
});

/** The counter of one storage of a project: `held` (reserved and confirmed bytes), `used` (confirmed bytes), `files`. */
export const quotaKey = (place: Pick<FileRef, 'projectId' | 'storageId'>) => ({
  pk: partition(place),
  sk: text(`quota#storage#${place.storageId}`),
});

export const filePathOf = (projectId: string, storageId: string, item: Item): string =>
  `${projectId}/${(item.sk?.S ?? '').slice(filePrefix(storageId).length)}`;

export const numberIn = (item: Item | undefined, name: string): number => Number(item?.[name]?.N ?? 0);
