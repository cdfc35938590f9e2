import { BSON, type Db, type Document as MongoDocument } from 'mongodb';
import { isActive, isNotGone } from '../collections/trash-conditions.ts';
import { clock } from '../core/clock.ts';
import { textOf, whole } from '../documents/query/projection.ts';
import { managedBucket } from '../files/bucket.ts';
import { onProject } from '../persistence/mongo.ts';
import { deserialize, rawBatches } from '../persistence/raw-documents.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { insertTransfer } from './manage.ts';
import {
  endTransfer,
  exportParts,
  loadContext,
  newTransfer,
  queued,
  queueTransfer,
  requeueTransfer,
  saveProgress,
  TransferFailure,
} from './runs.ts';
import { type ExportFormat, type ExportRecord, toExportView, transferKey, transferRecords } from './transfer.ts';

/** S3's minimum for all parts except the last. */
const minPartBytes = 5 * 1024 * 1024;

const readLimitMs = 30_000;
const batchSize = 200;

interface Stretch {
  readonly bytes: Buffer;
  readonly count: number;
  readonly last: ExportRecord['last'];
  readonly end: boolean;
}

const isSame = (one: MongoDocument, other: MongoDocument): boolean =>
  Buffer.from(BSON.serialize(one)).equals(BSON.serialize(other));

/** Starts at the last id, inclusive: a `$gt` comparison would skip ids of other types. */
const open = (db: Db, { collectionName, includeDeleted, last }: ExportRecord) =>
  db.collection(collectionName).find(includeDeleted ? isNotGone : isActive, {
    sort: { _id: 1 },
    hint: { _id: 1 },
    ...(last ? { min: { _id: last._id } } : {}),
    batchSize,
    maxTimeMS: readLimitMs,
    raw: true,
  });

/**
 * Reads the next documents until they fill a part, as the data API returns them. Memory: one part and one batch of the
 * database (16 MiB).
 */
const loadStretch = (project: Project, record: ExportRecord, separator: string): Promise<Stretch> =>
  onProject(
    project,
    async (db) => {
      const pieces: string[] = [];
      let [size, count, last] = [0, 0, record.last];
      for await (const batch of rawBatches(open(db, record))) {
        for (const raw of batch) {
          if (size >= minPartBytes) break;
          const id = { _id: deserialize(raw)._id as unknown };
          if (record.last && isSame(id, record.last)) continue;
          const { text } = textOf(project, raw, whole);
          pieces.push(record.count + count === 0 ? text : separator + text);
          size += Buffer.byteLength(text) + separator.length;
          count += 1;
          last = id;
        }
        if (size >= minPartBytes) break;
      }
      return { bytes: Buffer.from(pieces.join('')), count, last, end: size < minPartBytes };
    },
    readLimitMs,
  );

const gibibyte = 1024 ** 3;

const othersOf = async ({ _id, projectId }: ExportRecord): Promise<number> => {
  const kept = { projectId, _id: { $ne: _id }, kind: 'export', expiresAt: { $gt: new Date(clock.now()) } } as const;
  const [sum] = await transferRecords.aggregate<{ readonly bytes: number }>([
    { $match: { ...kept, state: { $in: ['queued', 'running', 'done'] } } },
    { $group: { _id: null, bytes: { $sum: '$bytes' } } },
  ]);
  return sum?.bytes ?? 0;
};

/** Throws `TransferFailure` if the project's exports exceed the plan. */
const requireExportRoom = async ({ plan }: Project, record: ExportRecord): Promise<void> => {
  const { exportBytes } = plans[plan];
  if (record.bytes + (await othersOf(record)) <= exportBytes) return;
  throw new TransferFailure(
    `With it the exports of this project have more than the ${exportBytes / gibibyte} GiB that the ${plan} plan keeps. Delete others, or read the documents from the database itself.`,
  );
};

/** Download links set the real type. */
const contentType = 'application/octet-stream';

const framings = {
  ndjson: { before: '', between: '\n', after: '\n' },
  json: { before: '[\n', between: ',\n', after: '\n]\n' },
} satisfies Readonly<Record<ExportFormat, object>>;

/** An empty NDJSON file has no line end. */
const framed = (body: Buffer, { format, count }: ExportRecord, added: number, end: boolean): Buffer => {
  const { before, after } = framings[format];
  const isEmpty = count + added === 0;
  const tail = isEmpty && format === 'ndjson' ? '' : isEmpty ? ']\n' : after;
  return Buffer.concat([Buffer.from(count === 0 ? before : ''), body, Buffer.from(end ? tail : '')]);
};

const cut = (bytes: Buffer): Buffer[] => {
  const number = Math.max(1, Math.floor(bytes.length / minPartBytes));
  return Array.from({ length: number }, (_, index) =>
    bytes.subarray(index * minPartBytes, index === number - 1 ? bytes.length : (index + 1) * minPartBytes),
  );
};

const writeStretch = async (project: Project, record: ExportRecord): Promise<ExportRecord> => {
  const key = transferKey(record);
  const stretch = await loadStretch(project, record, framings[record.format].between);
  const bytes = framed(stretch.bytes, record, stretch.count, stretch.end);
  const progress = {
    count: record.count + stretch.count,
    bytes: record.bytes + bytes.length,
    last: stretch.last,
    written: stretch.end,
  };
  if (stretch.end && record.uploadId === undefined) {
    await managedBucket.put(key, bytes, contentType);
    return saveProgress(record, progress);
  }
  let { uploadId } = record;
  if (uploadId === undefined) {
    uploadId = await exportParts().begin(key, contentType);
    await saveProgress(record, { uploadId });
  }
  const parts = [...record.parts];
  for (const part of cut(bytes)) {
    parts.push(await exportParts().put({ key, uploadId }, parts.length + 1, part));
  }
  return saveProgress(record, { ...progress, uploadId, parts });
};

/** A run may have died after completing the upload; the object then exists without an upload. */
const complete = async (record: ExportRecord): Promise<boolean> => {
  const key = transferKey(record);
  const { uploadId } = record;
  if (uploadId === undefined) return true;
  const completed = await exportParts().complete({ key, uploadId }, record.parts);
  return completed === 'completed' || (await managedBucket.head(key)) !== null;
};

/**
 * Writes a collection to a private file, part by part; another run continues after an interruption. May include
 * concurrent writes. Throws `TransferFailure` if it cannot continue.
 */
export const runExport = async (claimed: ExportRecord, withinMs: number): Promise<void> => {
  const deadline = clock.now() + withinMs;
  let record = claimed;
  while (!record.written) {
    if (clock.now() >= deadline) return requeueTransfer(record);
    const { project } = await loadContext(record);
    record = await writeStretch(project, record);
    await requireExportRoom(project, record);
  }
  await loadContext(record);
  if (!(await complete(record))) {
    throw new TransferFailure('The file was lost on the way. Start a new export.');
  }
  return endTransfer(record, { state: 'done' });
};

/** Throws 409 `TRANSFER_RUNNING`, 403 `PLAN_LIMIT`. */
export const startExport = async (
  project: Project,
  collectionName: string,
  { format, includeDeleted }: Pick<ExportRecord, 'format' | 'includeDeleted'>,
) => {
  const record: ExportRecord = {
    ...(await newTransfer(project, collectionName)),
    ...queued(),
    kind: 'export',
    format,
    includeDeleted,
    count: 0,
    bytes: 0,
    parts: [],
    last: null,
    written: false,
  };
  await insertTransfer(project, record);
  await queueTransfer(record);
  return toExportView(record);
};
