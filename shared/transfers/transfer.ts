import type { IndexDescription, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { viewOf } from '../core/values.ts';
import { managedBucket } from '../files/bucket.ts';
import type { StoredPart } from '../files/multipart.ts';
import type { Leased } from '../persistence/lease.ts';
import { inControl } from '../persistence/mongo.ts';

export const exportFormats = ['ndjson', 'json', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const importFormats = ['ndjson', 'csv'] as const;
export type ImportFormat = (typeof importFormats)[number];

export const conflictRules = ['skip', 'replace'] as const;
export type OnConflict = (typeof conflictRules)[number];

export const contentTypes: Readonly<Record<ExportFormat | ImportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  csv: 'text/csv',
};

/** `awaiting`: waits for the upload. `done`, `failed` and `cancelled` are final. */
export const transferStates = ['awaiting', 'queued', 'running', 'done', 'failed', 'cancelled'] as const;
type TransferState = (typeof transferStates)[number];

/** The transfer fails if the project moves to another database or the collection is deleted. */
export interface Origin {
  readonly database: string;
  readonly collectionId: ObjectId;
}

interface Transfer {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  /** For the owner's limit of running transfers. */
  readonly ownerId: string;
  readonly collectionName: string;
  readonly origin: Origin;
  readonly state: TransferState;
  /** Until it ends: numbers the project's transfers to enforce the plan's limit. */
  readonly slot?: number;
  /** While queued or running: unique per kind and collection. */
  readonly active?: true;
  /** While running: numbers the owner's transfers to limit concurrency. */
  readonly turn?: number;
  /** Waits because the owner has too many running. */
  readonly waits?: true;
  readonly leasedUntil: Date;
  /** Queued again if there is no progress by then. */
  readonly dueAt: Date;
  readonly tries: number;
  readonly failure?: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly requestId?: string;
}

export interface ExportRecord extends Transfer {
  readonly kind: 'export';
  readonly format: ExportFormat;
  readonly includeDeleted: boolean;
  /** The condition as JSON, because MongoDB does not store its operators as names. */
  readonly where?: string;
  /** As in a list; absent: by `_id`. */
  readonly sort?: string;
  /** The paths to write; absent: all. */
  readonly fields?: readonly string[];
  /** CSV: the fields found so far. */
  readonly columns?: readonly string[];
  /** CSV: all fields are found, and the documents follow. */
  readonly hasColumns?: true;
  readonly count: number;
  readonly bytes: number;
  readonly uploadId?: string;
  readonly parts: readonly Pick<StoredPart, 'number' | 'etag'>[];
  /** The last document written; `null` before the first. */
  readonly last: { readonly _id: unknown } | null;
  /** Only the upload must be completed. */
  readonly written: boolean;
}

/** `field` is '' for the whole line. */
export interface LineError {
  readonly line: number;
  readonly field: string;
  readonly message: string;
}

export interface ImportRecord extends Transfer {
  readonly kind: 'import';
  readonly format: ImportFormat;
  readonly fileName?: string;
  /** 16 random bytes as base64url; makes document ids unguessable. */
  readonly idSeed: string;
  /** When the file is deleted; the upload link has expired by then. */
  readonly fileEndsAt?: Date;
  readonly keepIds?: true;
  /** Absent: a taken `_id` is an error. */
  readonly onConflict?: OnConflict;
  readonly size?: number;
  readonly line: number;
  readonly bytes?: number;
  readonly notedAt?: Date;
  readonly skipped?: number;
  readonly inserted: number;
  readonly rejected: number;
  readonly errors: readonly LineError[];
}

export type TransferRecord = ExportRecord | ImportRecord;

const uniqueIn = (partialFilterExpression: object, name: string, key: IndexDescription['key']): IndexDescription => ({
  name,
  key,
  unique: true,
  partialFilterExpression,
});

/** In `control.transfers`; the unique ones decide between concurrent starts. */
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

export const leasedTransfers: Leased<TransferRecord> = {
  records: transferRecords,
  lease: 'leasedUntil',
  while: ['active'],
};

/** Key prefixes in our bucket; only signed links give access. */
export const transferPrefixes = (projectId: string): readonly string[] => [
  `exports/${projectId}/`,
  `imports/${projectId}/`,
];

export const transferKey = ({ kind, projectId, _id }: Pick<TransferRecord, 'kind' | 'projectId' | '_id'>): string =>
  `${kind}s/${projectId.toHexString()}/${_id.toHexString()}`;

const minuteMs = 60_000;
const from = (ms: number): Date => new Date(clock.now() + ms);

/** Less than the function's timeout; the next run continues. */
export const runMs = 3 * minuteMs;

/** By then the run has ended or died. */
export const lease = (): Date => from(6 * minuteMs);

export const whenLost = (): Date => from(2 * minuteMs);

/** How long an import waits for upload and start. */
export const uploadExpiry = (createdAt: Date): Date => new Date(createdAt.getTime() + 60 * minuteMs);

export const expiry = (): Date => from(2 * 24 * 60 * minuteMs);

const linkSeconds = 3600;

export const uploadSeconds = 600;

/** By then no upload can still succeed, even one that began in time. */
export const uploadEnd = (createdAt: Date): Date => new Date(createdAt.getTime() + 2 * uploadSeconds * 1000);

export const maxTries = 10;

const common = ['_id', 'state', 'createdAt', 'updatedAt', 'expiresAt'] as const;

const named = ({ collectionName: collection, failure }: TransferRecord) => ({ collection, failure: failure ?? null });

const exportFields = (record: ExportRecord) => ({
  ...viewOf(record, [...common, 'format', 'includeDeleted', 'count', 'bytes']),
  where: record.where === undefined ? null : (JSON.parse(record.where) as Readonly<Record<string, unknown>>),
  sort: record.sort ?? null,
  fields: record.fields ?? null,
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

/** With a link valid for an hour if the file is complete. */
export const toExportView = async (record: ExportRecord) => ({
  ...exportFields(record),
  url: record.state === 'done' ? await linkTo(record) : null,
});

export const toImportView = (record: ImportRecord) => ({ ...importFields(record), errors: record.errors });

/** Without the export's link and the import's errors. */
export const toTransferItem = (record: TransferRecord) =>
  record.kind === 'export'
    ? { kind: record.kind, ...exportFields(record) }
    : { kind: record.kind, ...importFields(record) };
