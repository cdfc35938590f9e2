import { BSON, type Db, type Document as MongoDocument } from 'mongodb';
import { onProject } from '../../clients/mongo.ts';
import { deserialize, rawBatches } from '../../clients/raw-documents.ts';
import { isActive, isNotGone } from '../../collections/trash-conditions.ts';
import { textOf, whole } from '../../documents/read/projection.ts';
import type { Project } from '../../projects/project.ts';
import type { ExportRecord } from '../transfer-record.ts';

/** The least that the storage takes for any part but the last. */
export const minPartBytes = 5 * 1024 * 1024;

const readLimitMs = 30_000;
const batchSize = 200;

interface Stretch {
  readonly bytes: Buffer;
  readonly count: number;
  readonly last: ExportRecord['last'];
  /** No document follows. */
  readonly end: boolean;
}

const isSame = (one: MongoDocument, other: MongoDocument): boolean =>
  Buffer.from(BSON.serialize(one)).equals(BSON.serialize(other));

/** Begins at the id of the last document, whatever its type: a comparison would leave out ids of other types. */
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
 * Reads the documents that come after the last one exported, until they fill a part, each in the form that the data API
 * gives it. Holds no more in memory than that and one batch of the database (16 MiB).
 */
export const loadStretch = (project: Project, record: ExportRecord, separator: string): Promise<Stretch> =>
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
