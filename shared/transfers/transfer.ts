import type { IndexDescription, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { viewOf } from '../core/view.ts';
import { managedBucket } from '../files/bucket.ts';
import type { StoredPart } from '../files/multipart.ts';
import type { Leased } from '../persistence/lease.ts';
import { inControl } from '../persistence/mongo.ts';

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
type TransferState = (typeof transferStates)[number];

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

const minuteMs = 60_000;
const from = (ms: number): Date => new Date(clock.now() + ms);

/** How long one run works, less than the function may take; what is left then goes on in the next one. */
export const runMs = 3 * minuteMs;

/** Until when a run that begins now has a transfer to itself: by then it has ended, or died. */
export const lease = (): Date => from(6 * minuteMs);

export const whenLost = (): Date => from(2 * minuteMs);

/** Until when an import that was made at `createdAt` waits for its file to be uploaded and started. */
export const uploadExpiry = (createdAt: Date): Date => new Date(createdAt.getTime() + 60 * minuteMs);

export const expiry = (): Date => from(2 * 24 * 60 * minuteMs);

const linkSeconds = 3600;

export const uploadSeconds = 600;

/** From when on nobody can upload the file of an import that was made at `createdAt`, even one who began in time. */
export const uploadEnd = (createdAt: Date): Date => new Date(createdAt.getTime() + 2 * uploadSeconds * 1000);

/** Runs that may fail one after the other before a transfer is given up. */
export const maxTries = 10;

const common = ['_id', 'state', 'createdAt', 'updatedAt', 'expiresAt'] as const;

const named = ({ collectionName: collection, failure }: TransferRecord) => ({ collection, failure: failure ?? null });

const exportFields = (record: ExportRecord) => ({
  ...viewOf(record, [...common, 'format', 'includeDeleted', 'count', 'bytes']),
  ...named(record),
});

const importFields = (record: ImportRecord) => ({
  ...viewOf(record, [...common, 'format', 'inserted', 'rejected']),
  fileName: record.fileName ?? null,
  keepIds: record.keepIds ?? false,
  onConflict: record.onConflict ?? null,
  skipped: record.skipped ?? 0,
  size: record.size ?? null,
  bytes: record.bytes ?? 0,
  ...named(record),
});

const linkTo = (record: ExportRecord): Promise<string> =>
  managedBucket.presignDownload(transferKey(record), linkSeconds, {
    fileName: `${record.collectionName}.${record.format}`,
    contentType: contentTypes[record.format],
  });

/** An export with a fresh link, which works for an hour, if its file is complete. */
export const toExportView = async (record: ExportRecord) => ({
  ...exportFields(record),
  url: record.state === 'done' ? await linkTo(record) : null,
});

/** An import: how many lines became documents or did not, and why the first did not. */
export const toImportView = (record: ImportRecord) => ({ ...importFields(record), errors: record.errors });

/** Without the link of an export, or what was wrong line by line with an import. */
export const toTransferItem = (record: TransferRecord) =>
  record.kind === 'export'
    ? { kind: record.kind, ...exportFields(record) }
    : { kind: record.kind, ...importFields(record) };
