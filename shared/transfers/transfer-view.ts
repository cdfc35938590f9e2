import { downloadLink } from './transfer-file.ts';
import {
  contentTypes,
  type ExportRecord,
  type ImportRecord,
  type LineError,
  type TransferRecord,
  transferKey,
} from './transfer-record.ts';

/** Until `expiresAt` this can be asked for, and the file is kept; `failure` says why it failed. */
interface TransferView extends Pick<TransferRecord, 'state' | 'createdAt' | 'updatedAt' | 'expiresAt'> {
  readonly _id: string;
  readonly collection: string;
  readonly failure: string | null;
}

/** An export as the dashboard returns it. `url` is a link that works for an hour, once the file is complete. */
export interface ExportView extends TransferView, Pick<ExportRecord, 'format' | 'includeDeleted' | 'count' | 'bytes'> {
  readonly url: string | null;
}

/** An import as the dashboard returns it: how many lines became documents or did not, and why the first did not. */
export interface ImportView extends TransferView, Pick<ImportRecord, 'format' | 'inserted' | 'rejected'> {
  readonly errors: LineError[];
}

/** An export or import in the list of a project's: without its link, or what was wrong line by line. */
export type TransferItem =
  | ({ readonly kind: 'export' } & Omit<ExportView, 'url'>)
  | ({ readonly kind: 'import' } & Omit<ImportView, 'errors'>);

const common = (record: TransferRecord): TransferView => {
  const { _id, collectionName: collection, state, failure = null, createdAt, updatedAt, expiresAt } = record;
  return { _id: _id.toHexString(), collection, state, failure, createdAt, updatedAt, expiresAt };
};

const linkTo = (record: ExportRecord): Promise<string> =>
  downloadLink(transferKey(record), `${record.collectionName}.${record.format}`, contentTypes[record.format]);

const exportFields = (record: ExportRecord) => {
  const { format, includeDeleted, count, bytes } = record;
  return { ...common(record), format, includeDeleted, count, bytes };
};

const importFields = (record: ImportRecord) => {
  const { format, inserted, rejected } = record;
  return { ...common(record), format, inserted, rejected };
};

/** An export as the dashboard shows it, with a fresh link if it is complete. */
export const toExportView = async (record: ExportRecord): Promise<ExportView> => ({
  ...exportFields(record),
  url: record.state === 'done' ? await linkTo(record) : null,
});

export const toImportView = (record: ImportRecord): ImportView => ({
  ...importFields(record),
  errors: [...record.errors],
});

export const toTransferItem = (record: TransferRecord): TransferItem =>
  record.kind === 'export' ? { kind: 'export', ...exportFields(record) } : { kind: 'import', ...importFields(record) };
