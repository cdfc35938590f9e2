import { createHmac } from 'node:crypto';
import { type AnyBulkWriteOperation, type Db, MongoBulkWriteError, ObjectId, type WriteError } from 'mongodb';
import { type Collection, ownerFieldOf } from '../collections/collection.ts';
import { seenField } from '../collections/effects/effect.ts';
import { checksReferences } from '../collections/schema/references.ts';
import { AppError } from '../core/errors.ts';
import { ownedBy } from '../documents/access/access.ts';
import { type Document, nextRevision, revisionField } from '../documents/document.ts';
import { storedForm } from '../documents/store/fuse.ts';
import type { NewDocument } from '../documents/store/new-document.ts';
import { missingReferences } from '../documents/store/references.ts';
import { movedNow } from '../documents/store/stamps.ts';
import { onProject } from '../persistence/mongo.ts';
import { writeFailure } from '../persistence/mongo-errors.ts';
import { maxTimeMS } from '../persistence/raw-documents.ts';
import { requireDatabaseRoom } from '../projects/database-quota.ts';
import type { Project } from '../projects/project.ts';
import type { ImportRecord, LineError } from './transfer.ts';

export interface Prepared extends NewDocument {
  readonly line: number;
  /** True if the line has its own id, which may be taken. */
  readonly isOwn: boolean;
}

/** The id has 3 bytes for the line number. */
export const maxLines = 2 ** 24 - 1;

const insertLimitMs = 30_000;

/**
 * Stable per import and line, so that no line is stored twice. Starts with the import's time, increases with the line,
 * and cannot be guessed without the seed.
 */
export const importedId = ({ _id, idSeed }: Pick<ImportRecord, '_id' | 'idSeed'>, line: number): ObjectId => {
  const number = Buffer.alloc(3);
  number.writeUIntBE(line, 0, 3);
  const random = createHmac('sha256', idSeed).update(number).digest().subarray(0, 3);
  return new ObjectId(Buffer.concat([_id.id.subarray(0, 6), number, random]));
};

const madeAt = async (db: Db, name: string, documents: readonly Document[]): Promise<ReadonlyMap<string, unknown>> => {
  const found = await db
    .collection(name)
    .find({ _id: { $in: documents.map(({ _id }) => _id) } }, { projection: { createdAt: 1 }, maxTimeMS })
    .toArray();
  return new Map(found.map(({ _id, createdAt }) => [_id.toHexString(), createdAt]));
};

/**
 * Keeps `createdAt` and increments the revision. The feed position is set by a second write, because pipelines cannot
 * set timestamps.
 */
const replacing = ({ _pos, ...document }: Document) => {
  const kept = {
    createdAt: { $ifNull: ['$createdAt', document.createdAt] },
    [revisionField]: nextRevision,
    _effects: '$_effects',
    ...(_pos !== undefined && { _pos: '$_pos' }),
  };
  return [{ $replaceWith: { $mergeObjects: [{ $literal: document }, kept] } }, { $unset: seenField }];
};

/**
 * With a changes feed, the next write of the same command sets the position. Under row security the owner must match;
 * otherwise nothing is found and the `_id` is taken.
 */
const replacements = ({ rls, partition }: Collection, document: Document): readonly AnyBulkWriteOperation[] => {
  const { _id } = document;
  const ownerField = ownerFieldOf(rls);
  const owned = ownerField === undefined ? {} : ownedBy(ownerField, document[ownerField] ?? null);
  const found = {
    _id,
    ...(ownerField !== undefined && { $or: [owned, ownedBy(ownerField, null)] }),
    ...(partition !== undefined && { [partition]: { $in: [document[partition], null] } }),
  };
  const stored = { _id, ...owned };
  const replace = { updateOne: { filter: found, update: replacing(document), upsert: true } };
  return document._pos === undefined ? [replace] : [replace, { updateOne: { filter: stored, update: movedNow } }];
};

const failuresOf = (error: unknown): readonly WriteError[] => {
  const failed = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
  if (failed.length === 0) throw error;
  return failed;
};

/** Converts errors caused by the data; rethrows all others. */
export const lineErrors = (line: number, error: unknown): LineError[] => {
  if (!(error instanceof AppError)) throw error;
  const { errors = [{ field: '', message: error.message }] } = error;
  return errors.map(({ field = '', message = error.message }) => ({ line, field, message }));
};

interface Stored {
  readonly refused: readonly (readonly LineError[])[];
  readonly skipped: number;
}

const taken = { field: '_id', message: '_id already exists' } as const;

/** With `replace`, the `_id` is only taken if the document has another owner or is in another partition. */
const replaceErrors = ({ rls, partition }: Collection, { line, document }: Prepared, failed: WriteError): LineError[] =>
  lineErrors(line, writeFailure(failed, document)).map((error) => {
    const field = ownerFieldOf(rls) ?? partition;
    if (field === undefined || error.field !== '_id') return error;
    const why = [
      ...(ownerFieldOf(rls) === undefined ? [] : ['the document has another owner']),
      ...(partition === undefined ? [] : [`the document has another ${partition}`]),
    ];
    return { line, field, message: `${field} cannot change: ${why.join(', or ')}` };
  });

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
 * A duplicate id of the import was stored by an earlier run. So was a line's own id if the document is newer than the
 * last saved progress. Otherwise the id is taken.
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

/** References within a batch are allowed. */
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
 * Stores a batch in one command; returns errors per rejected document. Documents stored by an earlier run count as
 * stored. Throws 403 `DATABASE_QUOTA_EXCEEDED` and stores nothing.
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
  const stored = batch.map((prepared) => ({ ...prepared, document: storedForm(project, prepared) }));
  return onProject(
    project,
    (db) =>
      record.onConflict === 'replace'
        ? replaceAll(db, collection, stored)
        : insertAll(db, collection.name, record, stored),
    insertLimitMs,
  );
};
