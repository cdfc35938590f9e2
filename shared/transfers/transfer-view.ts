import { viewOf } from '../core/view.ts';
import { managedBucket } from '../files/bucket.ts';
import {
  contentTypes,
  type ExportRecord,
  type ImportRecord,
  type TransferRecord,
  transferKey,
} from './transfer-record.ts';
import { linkSeconds } from './transfer-times.ts';

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
