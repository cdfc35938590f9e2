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

/** An export as the dashboard returns it. `url` is a link that works for an hour, once the file is complete. */
export interface ExportView extends TransferView {
  readonly format: ExportFormat;
  readonly includeDeleted: boolean;
  readonly count: number;
  readonly bytes: number;
  readonly url: string | null;
}

/**
 * An import as the dashboard returns it: how many lines became documents, how many did not, and what was wrong with the
 * first of those.
 */
export interface ImportView extends TransferView {
  readonly format: ImportFormat;
  readonly inserted: number;
  readonly rejected: number;
  readonly errors: LineError[];
}

/** An export or import in the list of a project's: without its link, or what was wrong line by line. */
export type TransferItem =
  | ({ readonly kind: 'export' } & Omit<ExportView, 'url'>)
  | ({ readonly kind: 'import' } & Omit<ImportView, 'errors'>);

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

const exportFields = (record: ExportRecord) => ({
  ...common(record),
  format: record.format,
  includeDeleted: record.includeDeleted,
  count: record.count,
  bytes: record.bytes,
});

const importFields = (record: ImportRecord) => ({
  ...common(record),
  format: record.format,
  inserted: record.inserted,
  rejected: record.rejected,
});

/** An export as the dashboard shows it, with a fresh link if it is complete. */
export const toExportView = async (record: ExportRecord): Promise<ExportView> => ({
  ...exportFields(record),
  url: record.state === 'done' ? await linkTo(record) : null,
});

/** An import as the dashboard shows it. */
export const toImportView = (record: ImportRecord): ImportView => ({
  ...importFields(record),
  errors: [...record.errors],
});

/** A transfer as the list shows it. */
export const toTransferItem = (record: TransferRecord): TransferItem =>
  record.kind === 'export' ? { kind: 'export', ...exportFields(record) } : { kind: 'import', ...importFields(record) };
