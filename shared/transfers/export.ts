import { BSON, type Db, type Document as MongoDocument } from 'mongodb';
import type { Collection } from '../collections/collection.ts';
import { loadCollection } from '../collections/find-collections.ts';
import { isActive, isNotGone } from '../collections/trash-conditions.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { JsonText } from '../core/json.ts';
import { allOf, type Condition } from '../documents/query/condition.ts';
import { requirePaths } from '../documents/query/list-query.ts';
import { textOf, toProjection, type Wanted } from '../documents/query/projection.ts';
import { parseSort, toMongoSort } from '../documents/query/sort.ts';
import { parseWhere, toConditions } from '../documents/query/where.ts';
import { managedBucket } from '../files/bucket.ts';
import { onProject } from '../persistence/mongo.ts';
import { deserialize, rawBatches } from '../persistence/raw-documents.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { csvHeader, csvRow, fieldsIn } from './csv-rows.ts';
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

/** The documents of an export. Throws `TransferFailure` if its condition does not fit the schema any more. */
const selectionOf = (collection: Collection, { includeDeleted, where }: ExportRecord): Condition => {
  const active = includeDeleted ? isNotGone : isActive;
  if (where === undefined) return active;
  try {
    return allOf([active, ...toConditions(parseWhere(collection, JSON.parse(where)))]);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new TransferFailure(`The collection was changed, and where does not fit it: ${error.message}`);
  }
};

interface Source {
  readonly project: Project;
  readonly selection: Condition;
}

/** The parts of each document, as a list with these `fields` returns them. */
const wantedOf = ({ fields }: Pick<ExportRecord, 'fields'>): Wanted => ({ fields, meta: true });

const byId = { _id: 1 } as const;

/**
 * Continues after the documents already written. By id it starts at the last one, inclusive: a `$gt` comparison would
 * skip ids of other types.
 */
const orderOf = ({ sort, count, last }: ExportRecord) =>
  sort === undefined
    ? { sort: byId, hint: byId, ...(last ? { min: { _id: last._id } } : {}) }
    : { sort: toMongoSort(parseSort(sort)), skip: count };

const open = (db: Db, selection: Condition, record: ExportRecord) =>
  db.collection(record.collectionName).find(selection, {
    projection: toProjection(wantedOf(record)),
    ...orderOf(record),
    batchSize,
    maxTimeMS: readLimitMs,
    raw: true,
  });

interface Read {
  readonly id: NonNullable<ExportRecord['last']>;
  readonly document: JsonText;
}

/** Repeating does not help if the condition is the reason. */
const whyNotFound = (error: unknown): TransferFailure | undefined => {
  if (!(error instanceof AppError)) return undefined;
  if (error.code === 'INVALID_REGEX') return new TransferFailure(error.message);
  return error.code === 'QUERY_TIMEOUT'
    ? new TransferFailure('Finding the documents took too long. Use a simpler where or sort, or export without them.')
    : undefined;
};

/** Calls `take` with the next documents, as the data API returns them, until it returns false. True at the end. */
const readOn = (
  { project, selection }: Source,
  record: ExportRecord,
  take: (read: Read) => boolean,
): Promise<boolean> =>
  onProject(
    project,
    async (db) => {
      for await (const batch of rawBatches(open(db, selection, record))) {
        for (const raw of batch) {
          const id = { _id: deserialize(raw)._id as unknown };
          if (record.sort === undefined && record.last && isSame(id, record.last)) continue;
          if (!take({ id, document: textOf(project, raw, wantedOf(record)) })) return false;
        }
      }
      return true;
    },
    readLimitMs,
  ).catch((error: unknown) => {
    throw ((record.where ?? record.sort) !== undefined && whyNotFound(error)) || error;
  });

/** Reads the next documents until they fill a part. Memory: one part and one batch of the database (16 MiB). */
const loadStretch = async (source: Source, record: ExportRecord, separator: string): Promise<Stretch> => {
  const { columns = [] } = record;
  const pieces: string[] = [];
  let [size, last] = [0, record.last];
  const end = await readOn(source, record, ({ id, document }) => {
    const text = record.format === 'csv' ? csvRow(columns, document) : document.text;
    pieces.push(record.count + pieces.length === 0 ? text : separator + text);
    size += Buffer.byteLength(text) + separator.length;
    last = id;
    return size < minPartBytes;
  });
  return { bytes: Buffer.from(pieces.join('')), count: pieces.length, last, end };
};

/** As many as an import takes. */
const maxColumns = 1000;
const documentsPerScan = 20_000;

/** Finds the fields of the next documents, which a CSV file names in its first line. */
const findColumns = async (source: Source, record: ExportRecord): Promise<ExportRecord> => {
  const columns = new Set(record.columns);
  let [count, last] = [0, record.last];
  const { sort: _, ...unsorted } = record;
  const end = await readOn(source, unsorted, ({ id, document }) => {
    for (const name of fieldsIn(document)) columns.add(name);
    count += 1;
    last = id;
    return count < documentsPerScan && columns.size <= maxColumns;
  });
  if (columns.size > maxColumns) {
    throw new TransferFailure(
      `The documents have more than ${maxColumns} different fields, which is too many for CSV. Export NDJSON.`,
    );
  }
  return saveProgress(record, {
    columns: [...columns],
    ...(end ? { last: null, hasColumns: true } : { last }),
  });
};

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
    `With this export, the exports of this project exceed the ${exportBytes / gibibyte} GiB that the ${plan} plan keeps. Delete older exports, or read the documents from the database itself.`,
  );
};

/** Download links set the real type. */
const contentType = 'application/octet-stream';

const framings = {
  ndjson: { between: '\n', after: '\n' },
  json: { between: ',\n', after: '\n]\n' },
  csv: { between: '\n', after: '\n' },
} satisfies Readonly<Record<ExportFormat, object>>;

/** Without it Excel reads UTF-8 as the code page of the computer. */
const byteOrderMark = '\ufeff';

const beginningOf = ({ format, columns = [] }: ExportRecord): string => {
  if (format === 'json') return '[\n';
  return format === 'csv' && columns.length > 0 ? `${byteOrderMark}${csvHeader(columns)}\n` : '';
};

/** An empty NDJSON or CSV file has no line end. */
const framed = (body: Buffer, record: ExportRecord, added: number, end: boolean): Buffer => {
  const { format, count } = record;
  const isEmpty = count + added === 0;
  const tail = isEmpty && format !== 'json' ? '' : isEmpty ? ']\n' : framings[format].after;
  return Buffer.concat([Buffer.from(count === 0 ? beginningOf(record) : ''), body, Buffer.from(end ? tail : '')]);
};

const cut = (bytes: Buffer): Buffer[] => {
  const number = Math.max(1, Math.floor(bytes.length / minPartBytes));
  return Array.from({ length: number }, (_, index) =>
    bytes.subarray(index * minPartBytes, index === number - 1 ? bytes.length : (index + 1) * minPartBytes),
  );
};

const writeStretch = async (source: Source, record: ExportRecord): Promise<ExportRecord> => {
  const key = transferKey(record);
  const stretch = await loadStretch(source, record, framings[record.format].between);
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
    const { project, collection } = await loadContext(record);
    const source = { project, selection: selectionOf(collection, record) };
    if (record.format === 'csv' && !record.hasColumns) {
      record = await findColumns(source, record);
      continue;
    }
    record = await writeStretch(source, record);
    await requireExportRoom(project, record);
  }
  await loadContext(record);
  if (!(await complete(record))) {
    throw new TransferFailure('The file was lost on the way. Start a new export.');
  }
  return endTransfer(record, { state: 'done' });
};

interface NewExport extends Pick<ExportRecord, 'format' | 'includeDeleted'> {
  readonly where?: Readonly<Record<string, unknown>> | undefined;
  readonly sort?: string | undefined;
  readonly fields?: readonly string[] | undefined;
}

/** Throws 400 `INVALID_FILTER`, `INVALID_REGEX` and `INVALID_QUERY`, 409 `TRANSFER_RUNNING`, 403 `PLAN_LIMIT`. */
export const startExport = async (
  project: Project,
  collectionName: string,
  { format, includeDeleted, where, sort, fields: chosen }: NewExport,
) => {
  if (sort) parseSort(sort);
  if (where) parseWhere(await loadCollection(project, collectionName), where);
  const fields = chosen && requirePaths(chosen);
  const record: ExportRecord = {
    ...(await newTransfer(project, collectionName)),
    ...queued(),
    kind: 'export',
    format,
    includeDeleted,
    ...(where && { where: JSON.stringify(where) }),
    ...(sort && { sort }),
    ...(fields && { fields }),
    ...(fields && format === 'csv' && { columns: fields, hasColumns: true }),
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
