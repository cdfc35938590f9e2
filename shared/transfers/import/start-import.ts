import { randomBytes } from 'node:crypto';
import { requireRecord } from '../../collections/control-collections.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { describeError, log } from '../../core/log.ts';
import { managedBucket } from '../../files/bucket.ts';
import type { Project } from '../../projects/project.ts';
import { findImport, transferNotFound } from '../find-transfer.ts';
import { newTransfer, queued, queueTransfer } from '../new-transfer.ts';
import { originOf } from '../transfer-context.ts';
import {
  contentTypes,
  type ImportFormat,
  type ImportRecord,
  type OnConflict,
  transferKey,
  transferRecords,
} from '../transfer-record.ts';
import { endTransfer } from '../transfer-runs.ts';
import { insertTransfer, orRunning } from '../transfer-slots.ts';
import { uploadSeconds } from '../transfer-times.ts';
import { toImportView } from '../transfer-view.ts';

export const maxImportBytes = 1024 ** 3;

/** Either `content`, or `size`: the bytes of a file that is yet to be uploaded. */
interface NewImport {
  readonly format: ImportFormat;
  readonly fileName?: string | undefined;
  readonly content?: string | undefined;
  readonly size?: number | undefined;
  /** Whether a line's own `_id` is kept, and what then becomes of one that is taken. */
  readonly keepIds?: boolean | undefined;
  readonly onConflict?: OnConflict | undefined;
}

const newImport = async (
  project: Project,
  collectionName: string,
  { format, fileName, content, size = Buffer.byteLength(content ?? ''), keepIds = false, onConflict }: NewImport,
): Promise<ImportRecord> => ({
  ...(await newTransfer(project, collectionName)),
  kind: 'import',
  format,
  ...(fileName !== undefined && { fileName }),
  ...(keepIds && { keepIds }),
  ...(onConflict && { onConflict }),
  size,
  idSeed: randomBytes(16).toString('base64url'),
  line: 0,
  bytes: 0,
  inserted: 0,
  rejected: 0,
  errors: [],
});

/** The record is first: what is refused leaves no file, and a file that may be there is known. */
const putFile = async (record: ImportRecord, content: string, contentType: string): Promise<void> => {
  try {
    await managedBucket.put(transferKey(record), Buffer.from(content), contentType);
  } catch (error) {
    const end = { state: 'failed', failure: 'Its file could not be stored. Please start it again.' } as const;
    await endTransfer(record, end).catch((cause: unknown) => log.warn({ error: describeError(cause) }));
    throw error;
  }
};

/**
 * Accepts an import. With `content` it is on its way at once, while another one is → 409 `TRANSFER_RUNNING`; with
 * `size` it waits for `startUploadedImport`. As many as the plan allows → 403 `PLAN_LIMIT`.
 */
export const startImport = async (project: Project, collectionName: string, sent: NewImport) => {
  const { format, content = '', size } = sent;
  const record = await newImport(project, collectionName, sent);
  const contentType = contentTypes[format];
  if (size !== undefined) {
    await insertTransfer(project, record);
    const terms = { contentType, size, expiresIn: uploadSeconds };
    const signedUrl = await managedBucket.presignUpload(transferKey(record), terms);
    return { ...toImportView(record), signedUrl, contentType };
  }
  const active = { ...record, ...queued() };
  await insertTransfer(project, active);
  await putFile(active, content, contentType);
  await queueTransfer(active);
  return { ...toImportView(active), signedUrl: null, contentType };
};

/** An import that was started before, as it is; one that was cancelled → 409 `TRANSFER_ENDED`. */
const startedBefore = (record: ImportRecord) => {
  if (record.state !== 'cancelled') return toImportView(record);
  throw new AppError('TRANSFER_ENDED', 'This import was cancelled and cannot be started. Make a new one.');
};

/**
 * Starts an import whose file has been uploaded; one that has been started already stays as it is. Not uploaded yet →
 * 409 `UPLOAD_NOT_READY`, cancelled → 409 `TRANSFER_ENDED`, another one under way → 409 `TRANSFER_RUNNING`, unknown →
 * 404.
 */
export const startUploadedImport = async (project: Project, collectionName: string, id: string) => {
  const record = await findImport(project, collectionName, id);
  if (record.state !== 'awaiting') return startedBefore(record);
  if (!(await managedBucket.head(transferKey(record)))) {
    throw new AppError('UPLOAD_NOT_READY', 'The file has not been uploaded yet. PUT it to the signed URL first.');
  }
  const origin = originOf(project, await requireRecord(project, collectionName));
  const started = await orRunning(
    transferRecords.findOneAndUpdate(
      { _id: record._id, state: 'awaiting' },
      { $set: { ...queued(), origin, updatedAt: new Date(clock.now()) } },
      { returnDocument: 'after' },
    ),
  );
  if (!started) return startedBefore(await findImport(project, collectionName, id));
  if (started.kind !== 'import') throw transferNotFound();
  await queueTransfer(started);
  return toImportView(started);
};
