import { createHmac } from 'node:crypto';
import { type Db, MongoBulkWriteError, ObjectId, type WriteError } from 'mongodb';
import { onProject } from '../../clients/mongo.ts';
import { writeFailure } from '../../clients/mongo-failure.ts';
import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import type { Document } from '../../documents/document.ts';
import type { Project } from '../../projects/project.ts';
import { requireDatabaseRoom } from '../../projects/quota/database-quota.ts';
import type { ImportRecord, LineError } from '../transfer-record.ts';

/** A document of a line, ready to be stored. */
export interface Prepared {
  readonly line: number;
  readonly document: Document;
  readonly size: number;
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

const insert = async (db: Db, name: string, documents: readonly Document[]): Promise<readonly WriteError[]> => {
  try {
    await db.collection(name).insertMany(documents, { ordered: false });
    return [];
  } catch (error) {
    const failed = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
    if (failed.length === 0) throw error;
    return failed;
  }
};

const idsOf = async (db: Db, name: string, documents: readonly Document[]): Promise<ReadonlySet<string>> => {
  const found = await db
    .collection(name)
    .find({ _id: { $in: documents.map(({ _id }) => _id) } }, { projection: { _id: 1 }, maxTimeMS: 5000 })
    .toArray();
  return new Set(found.map(({ _id }) => _id.toHexString()));
};

/** What an error that is the caller's says about a line; any other is thrown. */
export const lineErrors = (line: number, error: unknown): LineError[] => {
  if (!(error instanceof AppError)) throw error;
  const { errors = [{ field: '', message: error.message }] } = error;
  return errors.map(({ field, message }) => ({ line, field, message }));
};

/**
 * Stores the documents of a batch in one command; returns for each one that the database refused what was wrong. One
 * that an earlier run stored counts as stored. No room → 403 `DATABASE_QUOTA_EXCEEDED`, and none is stored.
 */
export const insertBatch = async (
  project: Project,
  { name }: Collection,
  batch: readonly Prepared[],
): Promise<readonly (readonly LineError[])[]> => {
  const bytes = batch.reduce((sum, { size }) => sum + size, 0);
  await requireDatabaseRoom(project, bytes);
  const documents = batch.map(({ document }) => document);
  const refusals = await onProject(
    project,
    async (db) => {
      const failed = await insert(db, name, documents);
      if (failed.length === 0) return [];
      const refused = failed.flatMap(({ index }) => documents[index] ?? []);
      const there = await idsOf(db, name, refused);
      return failed.filter(({ index }) => !there.has(documents[index]?._id.toHexString() ?? ''));
    },
    insertLimitMs,
  );
  return refusals.map((failure) => lineErrors(batch[failure.index]?.line ?? 0, writeFailure(failure)));
};
