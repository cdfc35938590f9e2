import { BSON, type Db, type Document as MongoDocument } from 'mongodb';
import { onProject } from '../../clients/mongo.ts';
import { deserialize, rawBatches } from '../../clients/raw-documents.ts';
import { textOf, whole } from '../../documents/read/projection.ts';
import { isActive, isNotGone } from '../../documents/trash/trash-conditions.ts';
import type { Project } from '../../projects/project.ts';
import type { ExportRecord } from '../transfer-record.ts';

/** The least that the storage takes for any part but the last. */
export const minPartBytes = 5 * 1024 * 1024;

const readLimitMs = 30_000;
const batchSize = 200;

export interface Stretch {
  readonly bytes: Buffer;
  readonly count: number;
  readonly last: ExportRecord['last'];
  /** No document follows. */
  readonly end: boolean;
}

type TransferContext = Pick<ExportRecord, 'collectionName' | 'includeDeleted' | 'last'>;

const isSame = (one: MongoDocument, other: MongoDocument): boolean =>
  Buffer.from(BSON.serialize(one)).equals(BSON.serialize(other));

/** Begins at the id of the last document, whatever its type: a comparison would leave out ids of other types. */
const open = (db: Db, { collectionName, includeDeleted, last }: TransferContext) =>
  db.collection(collectionName).find(includeDeleted ? isNotGone : isActive, {
    sort: { _id: 1 },
    hint: { _id: 1 },
    ...(last ? { min: { _id: last._id } } : {}),
    batchSize,
    maxTimeMS: readLimitMs,
    raw: true,
  });

const read = async (
  project: Project,
  db: Db,
  place: TransferContext,
  isFirst: boolean,
  separator: string,
): Promise<Stretch> => {
  const pieces: string[] = [];
  let [size, count, last] = [0, 0, place.last];
  for await (const batch of rawBatches(open(db, place))) {
    for (const raw of batch) {
      if (size >= minPartBytes) break;
      const stored = deserialize(raw);
      const id = { _id: stored._id as unknown };
      if (place.last && isSame(id, place.last)) continue;
      const { text } = textOf(project, raw, whole);
      pieces.push(isFirst && count === 0 ? text : separator + text);
      size += Buffer.byteLength(text) + separator.length;
      count += 1;
      last = id;
    }
    if (size >= minPartBytes) break;
  }
  return { bytes: Buffer.from(pieces.join('')), count, last, end: size < minPartBytes };
};

/**
 * Reads the documents that come after the last one exported, until they fill a part, each in the form that the data API
 * gives it. Holds no more in memory than that and one batch of the database (16 MiB).
 */
export const loadStretch = (
  project: Project,
  { collectionName, includeDeleted, last, count }: ExportRecord,
  separator: string,
): Promise<Stretch> =>
  onProject(
    project,
    (db) => read(project, db, { collectionName, includeDeleted, last }, count === 0, separator),
    readLimitMs,
  );
