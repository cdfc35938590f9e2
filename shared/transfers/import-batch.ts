import { createHmac } from 'node:crypto';
import { type AnyBulkWriteOperation, type Db, MongoBulkWriteError, ObjectId, type WriteError } from 'mongodb';
import { type Collection, ownerFieldOf } from '../collections/collection.ts';
import { checksReferences } from '../collections/schema/references.ts';
import { AppError } from '../core/errors.ts';
import { ownedBy } from '../documents/access/access.ts';
import { type Document, nextRevision, revisionField } from '../documents/document.ts';
import { movedNow } from '../documents/store/feed-position.ts';
import { withFuse } from '../documents/store/guarded-write.ts';
import type { NewDocument } from '../documents/store/insert.ts';
import { missingReferences } from '../documents/store/references.ts';
import { onProject } from '../persistence/mongo.ts';
import { writeFailure } from '../persistence/mongo-errors.ts';
import { maxTimeMS } from '../persistence/raw-documents.ts';
import { requireDatabaseRoom } from '../projects/database-quota.ts';
import type { Project } from '../projects/project.ts';
import type { ImportRecord, LineError } from './transfer.ts';

/** A document of a line, ready to be stored. */
export interface Prepared extends NewDocument {
  readonly line: number;
  /** Whether the id is the line's own, which others may have. */
  readonly isOwn: boolean;
}

/** Lines that an id has room to number. */
export const maxLines = 2 ** 24 - 1;

const insertLimitMs = 30_000;

/**
 * The id of a line's document: always the same within an import, so that no line is stored twice. It begins with the
 * time of the import, rises with the line, and cannot be guessed without the import's seed.
 */
export const importedId = ({ _id, idSeed }: Pick<ImportRecord, '_id' | 'idSeed'>, line: number): ObjectId => {
  const number = Buffer.alloc(3);
  number.writeUIntBE(line, 0, 3);
  const random = createHmac('sha256', idSeed).update(number).digest().subarray(0, 3);
  return new ObjectId(Buffer.concat([_id.id.subarray(0, 6), number, random]));
};

/** When each of the documents that are there was made, by its id. */
const madeAt = async (db: Db, name: string, documents: readonly Document[]): Promise<ReadonlyMap<string, unknown>> => {
  const found = await db
    .collection(name)
    .find({ _id: { $in: documents.map(({ _id }) => _id) } }, { projection: { createdAt: 1 }, maxTimeMS })
    .toArray();
  return new Map(found.map(({ _id, createdAt }) => [_id.toHexString(), createdAt]));
};

/**
 * The document as it stands in the file, as the next revision of the one that has its id, and as old as that one. It
 * keeps its place among the changes, as no pipeline writes another.
 */
const replacing = ({ _pos, ...document }: Document) => {
  const kept = {
    createdAt: { $ifNull: ['$createdAt', document.createdAt] },
    [revisionField]: nextRevision,
    ...(_pos !== undefined && { _pos: '$_pos' }),
  };
  return [{ $replaceWith: { $mergeObjects: [{ $literal: document }, kept] } }];
};

/**
 * What stores a document; of a collection with a changes feed its place is written next, by the same command. Under row
 * security the owner that a document has cannot change: of another owner's none is found, and the `_id` is taken.
 */
const replacements = ({ rls }: Collection, document: Document): readonly AnyBulkWriteOperation[] => {
  const { _id } = document;
  const ownerField = ownerFieldOf(rls);
  const owned = ownerField === undefined ? {} : ownedBy(ownerField, document[ownerField] ?? null);
  const found = ownerField === undefined ? { _id } : { _id, $or: [owned, ownedBy(ownerField, null)] };
  const stored = { _id, ...owned };
  const replace = { updateOne: { filter: found, update: replacing(document), upsert: true } };
  return document._pos === undefined ? [replace] : [replace, { updateOne: { filter: stored, update: movedNow } }];
};

const failuresOf = (error: unknown): readonly WriteError[] => {
  const failed = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
  if (failed.length === 0) throw error;
  return failed;
};

/** What an error that is the caller's says about a line; any other is thrown. */
export const lineErrors = (line: number, error: unknown): LineError[] => {
  if (!(error instanceof AppError)) throw error;
  const { errors = [{ field: '', message: error.message }] } = error;
  return errors.map(({ field, message }) => ({ line, field, message }));
};

/** What became of a batch: what was wrong with lines that were refused, and how many were left out. */
interface Stored {
  readonly refused: readonly (readonly LineError[])[];
  readonly skipped: number;
}

const taken = { field: '_id', message: '_id already exists' } as const;

/** The `_id` of a line that replaces is taken only if the document there is another owner's. */
const replaceErrors = ({ rls }: Collection, { line, document }: Prepared, failed: WriteError): LineError[] =>
  lineErrors(line, writeFailure(failed, document)).map((error) =>
    ownerFieldOf(rls) !== undefined && error.field === '_id'
      ? { line, field: rls.ownerField, message: `${rls.ownerField} cannot change: the document has another owner` }
      : error,
  );

const replaceAll = async (db: Db, collection: Collection, batch: readonly Prepared[]): Promise<Stored> => {
  const writes = batch.map(({ document }) => replacements(collection, document));
  const lines = batch.flatMap((prepared, index) => (writes[index] ?? []).map(() => prepared));
  const failed = await db
    .collection(collection.name)
    .bulkWrite(writes.flat(), { ordered: false })
    .then(() => [], failuresOf);
  const refused = failed.flatMap((one) => {
    const prepared = lines[one.index];
    return prepared ? [replaceErrors(collection, prepared, one)] : [];
  });
  return { refused, skipped: 0 };
};

/**
 * A refused line whose id is there was stored by an earlier run, where the id is the import's; one with an id of its
 * own was if the document is younger than what that run noted last. Any other such id is taken.
 */
const insertAll = async (db: Db, name: string, record: ImportRecord, batch: readonly Prepared[]): Promise<Stored> => {
  const { onConflict, createdAt, notedAt = createdAt } = record;
  const documents = batch.map(({ document }) => document);
  const failed = await db
    .collection(name)
    .insertMany(documents, { ordered: false })
    .then(() => [], failuresOf);
  if (failed.length === 0) return { refused: [], skipped: 0 };
  const there = await madeAt(
    db,
    name,
    failed.flatMap(({ index }) => documents[index] ?? []),
  );
  const refused: (readonly LineError[])[] = [];
  let skipped = 0;
  for (const one of failed) {
    const prepared = batch[one.index];
    if (!prepared) continue;
    const id = prepared.document._id.toHexString();
    const made = there.get(id);
    if (!there.has(id)) refused.push(lineErrors(prepared.line, writeFailure(one)));
    else if (!prepared.isOwn || (made instanceof Date && made >= notedAt)) continue;
    else if (onConflict === 'skip') skipped += 1;
    else refused.push([{ line: prepared.line, ...taken }]);
  }
  return { refused, skipped };
};

/** What is wrong with references of lines that must exist. Documents of the same batch may refer to each other. */
const lostReferences = async (
  project: Project,
  collection: Collection,
  batch: readonly Prepared[],
): Promise<ReadonlyMap<Prepared, readonly LineError[]>> => {
  if (!checksReferences(collection)) return new Map();
  const documents = batch.map(({ document }) => document);
  const known = new Set(documents.map(({ _id }) => _id.toHexString()));
  const missing = await missingReferences({ project, collection, caller: { kind: 'secret' } }, documents, known);
  const lost = new Map<Prepared, LineError[]>();
  for (const { index, field, message } of missing) {
    const prepared = batch[index];
    if (prepared) lost.set(prepared, [...(lost.get(prepared) ?? []), { line: prepared.line, field, message }]);
  }
  return lost;
};

/**
 * Stores the documents of a batch in one command; returns for each one that the database refused what was wrong. One
 * that an earlier run stored counts as stored. No room → 403 `DATABASE_QUOTA_EXCEEDED`, and none is stored.
 */
export const storeBatch = async (
  project: Project,
  collection: Collection,
  record: ImportRecord,
  batch: readonly Prepared[],
): Promise<Stored> => {
  if (batch.length === 0) return { refused: [], skipped: 0 };
  const lost = await lostReferences(project, collection, batch);
  if (lost.size > 0) {
    const rest = batch.filter((prepared) => !lost.has(prepared));
    const { refused, skipped } = await storeBatch(project, collection, record, rest);
    return { refused: [...lost.values(), ...refused], skipped };
  }
  await requireDatabaseRoom(
    project,
    batch.reduce((sum, { size }) => sum + size, 0),
  );
  const fused = batch.map((prepared) => ({ ...prepared, document: withFuse(project, prepared) }));
  return onProject(
    project,
    (db) =>
      record.onConflict === 'replace'
        ? replaceAll(db, collection, fused)
        : insertAll(db, collection.name, record, fused),
    insertLimitMs,
  );
};
