import { downloadLink } from './transfer-file.ts';
import {
  type ExportFormat,
  type ExportRecord,
  type ImportFormat,
  type ImportRecord,
  type LineError,
  type TransferRecord,
  type TransferState,
  transferKey,
} from './transfer-record.ts';

interface TransferView {
  readonly _id: string;
  readonly collection: string;
  readonly state: TransferState;
  /** Why it failed. */
  readonly failure: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Until when this can be asked for, and the file is kept. */
  readonly expiresAt: Date;
}

/** An export as the dashboard answers it. `url` is a link that works for an hour, once the file is complete. */
export interface ExportView extends TransferView {
  readonly format: ExportFormat;
  readonly includeDeleted: boolean;
  readonly count: number;
  readonly bytes: number;
  readonly url: string | null;
}

/**
 * An import as the dashboard answers it: how many lines became documents, how many did not, and what was wrong with the
 * first of those.
 */
export interface ImportView extends TransferView {
  readonly format: ImportFormat;
  readonly inserted: number;
  readonly rejected: number;
  readonly errors: LineError[];
}

const types: Readonly<Record<ExportFormat, string>> = { ndjson: 'application/x-ndjson', json: 'application/json' };

const common = (record: TransferRecord): TransferView => ({
  _id: record._id.toHexString(),
  collection: record.collectionName,
  state: record.state,
  failure: record.failure ?? null,
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
  expiresAt: record.expiresAt,
});

const linkTo = (record: ExportRecord): Promise<string> =>
  downloadLink(transferKey(record), `${record.collectionName}.${record.format}`, types[record.format]);

export const toExportView = async (record: ExportRecord): Promise<ExportView> => ({
  ...common(record),
  format: record.format,
  includeDeleted: record.includeDeleted,
  count: record.count,
  bytes: record.bytes,
  url: record.state === 'done' ? await linkTo(record) : null,
});

export const toImportView = (record: ImportRecord): ImportView => ({
  ...common(record),
  format: record.format,
  inserted: record.inserted,
  rejected: record.rejected,
  errors: [...record.errors],
});
