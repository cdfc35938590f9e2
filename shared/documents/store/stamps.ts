import { type Document as MongoDocument, Timestamp } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { dueFields, seenField } from '../../collections/effects/effect.ts';
import { hasCode } from '../../persistence/mongo-errors.ts';
import type { Project } from '../../projects/project.ts';
import { type Counting, counting, type Document } from '../document.ts';
import { answerPerBson, maxPageBytes } from '../page-size.ts';
import type { NewDocument } from './new-document.ts';
import { unmeasuredGrowth } from './validate.ts';

/*
 * What the service itself stores in a document: the position in the changes feed, and the fuse.
 *
 * MongoDB is fastest if a write finds its document by `_id` alone; any further condition costs half as much again.
 * The fuse still enforces that the document is active and has room: it is a number in a hidden array, which an
 * update doubles and a move to the trash raises by 2^62. MongoDB rejects both if there is no fuse, or if the result
 * exceeds 64 bits, which is the case in the trash and after 62 updates. A rejected write is repeated with a filter,
 * which decides; an update that finds room then stores a new fuse. Every other write removes it. So only documents
 * that are known to be active and to have room for 62 updates have one.
 */

type Fed = Pick<Collection, 'feed'>;

interface Stored {
  readonly project: Pick<Project, 'placement'>;
  readonly collection: Fed & Pick<Collection, 'effects'>;
}

/** MongoDB replaces it with its own clock in an insert. The values are unique and increasing. */
const now = new Timestamp({ t: 0, i: 0 });

/** The fields that an insert stores for the changes feed, if the collection has one. */
export const insertedAt = ({ feed }: Fed): { readonly _pos?: Timestamp } => (feed?.on ? { _pos: now } : {});

/** Gives each updated document its own position. */
export const movedNow: MongoDocument = { $currentDate: { _pos: { $type: 'timestamp' } } };

const moved = ({ feed }: Fed): MongoDocument => (feed?.on ? movedNow : {});

const updates = 62;

/** The maximum bytes of BSON of an update that the fuse decides. */
export const maxFusedBytes = unmeasuredGrowth / updates;

/** A document of so many bytes of BSON has room for `unmeasuredGrowth`, whatever it contains. */
const smallBytes = Math.floor(maxPageBytes / answerPerBson) - unmeasuredGrowth;

/** The fuse of a document that was found to be active and to have room for `unmeasuredGrowth`. */
export const newFuse = { _fuse: [1] } as const;

const withoutFuse: MongoDocument = { $unset: { _fuse: '' } };

/** After each write, effects that run at a time check the document again. */
const unseen: MongoDocument = { $unset: { [seenField]: '' } };

const withoutBoth: MongoDocument = { $unset: { ...withoutFuse.$unset, ...unseen.$unset } };

/** Documents in customers' databases have no fuses, because other programs write to them. */
const hasFuses = ({ placement }: Pick<Project, 'placement'>): boolean => placement.kind === 'managed';

/** A new document as it is stored: with a fuse if it has room. */
export const storedForm = (project: Pick<Project, 'placement'>, { document, size }: NewDocument): Document =>
  hasFuses(project) && size <= smallBytes ? { ...document, ...newFuse } : document;

/** An update found by a filter: also gives the document its position, and removes the fuse. */
export const stamped = ({ project, collection }: Stored, { where, operators }: Counting): Counting => {
  const waits = dueFields(collection).length > 0;
  const removed = hasFuses(project) ? (waits ? withoutBoth : withoutFuse) : waits && unseen;
  return { where, operators: { ...operators, ...moved(collection), ...removed } };
};

/** A stamped update of a document that is active and has room. It stores a new fuse if the document may have one. */
export const withNewFuse = ({ $unset = {}, ...operators }: MongoDocument): MongoDocument => {
  const { _fuse, ...others } = $unset;
  const unsets = Object.keys(others).length > 0 && { $unset: others };
  return _fuse === undefined
    ? { ...operators, ...unsets }
    : { ...operators, ...unsets, $set: { ...operators.$set, ...newFuse } };
};

/** The update that makes a document a tombstone. */
export const tombstoned = ({ operators }: Counting): MongoDocument => ({ ...operators, ...movedNow, ...withoutFuse });

/** An update decided by the fuse, for documents found by their id; `undefined` if the project has no fuses. */
export const fused = ({ project, collection }: Stored, isTrashing: boolean): MongoDocument | undefined => {
  if (!hasFuses(project)) return undefined;
  const { operators } = counting;
  const at = '_fuse.$[]';
  const decided = isTrashing ? { $inc: { ...operators.$inc, [at]: 2n ** 62n } } : { $mul: { [at]: 2 } };
  return { ...operators, ...moved(collection), ...decided, ...(dueFields(collection).length > 0 && unseen) };
};

/** Documents whose fuse allows an update, which wears it: decided without an error, at the price of a condition. */
export const hasFuse: MongoDocument = { '_fuse.0': { $lt: 2n ** 62n } };

/** The result of a write, or `undefined` if a fuse rejected it. */
export const unlessRejected = async <T>(write: Promise<T>): Promise<T | undefined> => {
  try {
    return await write;
  } catch (error) {
    // The fuse causes these errors. So does a revision that is not a number, but no document with a fuse has one.
    if (hasCode(error, 2, 14)) return undefined;
    throw error;
  }
};
