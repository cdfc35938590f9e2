import type { IndexDescription, ObjectId } from 'mongodb';
import { inControl } from '../clients/mongo.ts';
import type { StoredPart } from '../files/parts.ts';
import type { Leased } from '../work/lease.ts';

export const exportFormats = ['ndjson', 'json'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const importFormats = ['ndjson', 'csv'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** A line whose `_id` is taken is left out, or takes the place of the document that has it. */
export const conflictRules = ['skip', 'replace'] as const;
export type OnConflict = (typeof conflictRules)[number];

export const contentTypes: Readonly<Record<ExportFormat | ImportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  csv: 'text/csv',
};

/** `awaiting`: an import whose file has not been uploaded yet. `done`, `failed` and `cancelled` are final. */
export const transferStates = ['awaiting', 'queued', 'running', 'done', 'failed', 'cancelled'] as const;
export type TransferState = (typeof transferStates)[number];

/** It ends if its project moves to another database, or its collection is deleted. */
export interface Origin {
  readonly database: string;
  readonly collectionId: ObjectId;
}

interface Transfer {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  /** Who owns the project, for the turns of running transfers. */
  readonly ownerId: string;
  readonly collectionName: string;
  readonly origin: Origin;
  readonly state: TransferState;
  /** Until it has ended: numbers those of a project, so that a unique index holds the plan's limit. */
  readonly slot?: number;
  /** While it is queued or running; then a collection has no second one of its kind. */
  readonly active?: true;
  /** While it runs: numbers those of an owner, so that a unique index holds how many do at once. */
  readonly turn?: number;
  /** It has come to its turn while as many of its owner were running as may. */
  readonly waits?: true;
  /** Until then one run of the task has it to itself. */
  readonly leasedUntil: Date;
  /** An active transfer without progress by this time is put on the queue again. */
  readonly dueAt: Date;
  /** Runs started since the last progress. */
  readonly tries: number;
  /** Why it failed, for people. */
  readonly failure?: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When record and file are removed. */
  readonly expiresAt: Date;
  readonly requestId?: string;
}

export interface ExportRecord extends Transfer {
  readonly kind: 'export';
  readonly format: ExportFormat;
  /** Trashed documents too. */
  readonly includeDeleted: boolean;
  /** Documents and bytes written so far. */
  readonly count: number;
  readonly bytes: number;
  /** The multipart upload, and the parts of it that the storage has. */
  readonly uploadId?: string;
  readonly parts: readonly Pick<StoredPart, 'number' | 'etag'>[];
  /** The id of the last document written; `null` before the first. */
  readonly last: { readonly _id: unknown } | null;
  /** Everything is written; the upload has only to be completed. */
  readonly written: boolean;
}

/** What was wrong with a line of an import; `field` is '' where it is the line as a whole. */
export interface LineError {
  readonly line: number;
  readonly field: string;
  readonly message: string;
}

export interface ImportRecord extends Transfer {
  readonly kind: 'import';
  readonly format: ImportFormat;
  /** What the caller calls the file, to be shown. */
  readonly fileName?: string;
  /** 16 random bytes as base64url: what nobody can guess the ids of its documents without. */
  readonly idSeed: string;
  /** Once it has ended: when its file is removed. By then the link to upload it has ended too. */
  readonly fileEndsAt?: Date;
  /** A line's own `_id` is kept; without it each line gets one of the import's. */
  readonly keepIds?: true;
  /** What becomes of a line whose `_id` is taken; without it that is an error of the line. */
  readonly onConflict?: OnConflict;
  /** Bytes of the file, once they are known. */
  readonly size?: number;
  /** Lines, and bytes of the file, up to here are dealt with. */
  readonly line: number;
  readonly bytes?: number;
  /** When that was written down last. */
  readonly notedAt?: Date;
  /** Lines that were left out, as their `_id` was taken. */
  readonly skipped?: number;
  readonly inserted: number;
  readonly rejected: number;
  /** The first hundred. */
  readonly errors: readonly LineError[];
}

export type TransferRecord = ExportRecord | ImportRecord;

const uniqueIn = (partialFilterExpression: object, name: string, key: IndexDescription['key']): IndexDescription => ({
  name,
  key,
  unique: true,
  partialFilterExpression,
});

/** Indexes of `control.transfers`; the unique ones decide between parallel starts. */
export const transferIndexes: readonly IndexDescription[] = [
  uniqueIn({ active: true }, 'active', { projectId: 1, collectionName: 1, kind: 1 }),
  uniqueIn({ slot: { $exists: true } }, 'slot', { projectId: 1, slot: 1 }),
  uniqueIn({ turn: { $exists: true } }, 'turn', { ownerId: 1, turn: 1 }),
  { key: { ownerId: 1, dueAt: 1 }, name: 'waiting', partialFilterExpression: { waits: true } },
  { key: { dueAt: 1 }, name: 'due', partialFilterExpression: { active: true } },
  { key: { expiresAt: 1 }, name: 'expired' },
  { key: { fileEndsAt: 1 }, name: 'file', sparse: true },
  { key: { projectId: 1, _id: -1 }, name: 'newest' },
];

export const transferRecords = inControl<TransferRecord>('transfers');

/** An active transfer belongs to the run that knows its lease. */
export const leasedTransfers: Leased<TransferRecord> = {
  records: transferRecords,
  lease: 'leasedUntil',
  while: ['active'],
};

/** Where in our bucket the exports and imports of a project are: nobody reads there without a signed link. */
export const transferPrefixes = (projectId: string): readonly string[] => [
  `exports/${projectId}/`,
  `imports/${projectId}/`,
];

export const transferKey = ({ kind, projectId, _id }: Pick<TransferRecord, 'kind' | 'projectId' | '_id'>): string =>
  `${kind}s/${projectId.toHexString()}/${_id.toHexString()}`;
