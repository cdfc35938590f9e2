import type { Document as MongoDocument } from 'mongodb';
import { dueFields } from '../../collections/effects/effect.ts';
import { hasCode } from '../../persistence/mongo-errors.ts';
import type { Project } from '../../projects/project.ts';
import { counting, type Document } from '../document.ts';
import { answerPerBson, maxPageBytes } from '../page-size.ts';
import type { Conditions } from './change-document.ts';
import type { NewDocument } from './new-document.ts';
import { moved, type Stamped, unseen } from './stamps.ts';
import { unmeasuredGrowth } from './validate.ts';

/*
 * The fuse lets MongoDB find the document of an update by `_id` alone. With the conditions in the filter, an update
 * needs much more CPU there.
 *
 * The fuse is a number in a hidden array. An update doubles it, and a move to the trash raises it by 2^62. MongoDB
 * rejects both if there is no fuse, or if the result exceeds 64 bits: in the trash, and after 62 updates. A rejected
 * write is repeated with a filter, which decides; an update that finds room then stores a new fuse. Every other write
 * removes it (`withoutFuse`). So only documents that are active and have room for 62 updates have a fuse. Documents in
 * customers' databases have none, because other programs write to them.
 */

const updates = 62;

/** The maximum bytes of BSON of an update that the fuse decides. */
const maxFusedBytes = unmeasuredGrowth / updates;

/** A document of so many bytes of BSON has room for `unmeasuredGrowth`, whatever it contains. */
const smallBytes = Math.floor(maxPageBytes / answerPerBson) - unmeasuredGrowth;

/** The fuse of a document that was found to be active and to have room for `unmeasuredGrowth`. */
export const newFuse = { _fuse: [1] } as const;

const hasFuses = ({ placement }: Pick<Project, 'placement'>): boolean => placement.kind === 'managed';

/** A new document as it is stored: with a fuse if it has room. */
export const storedForm = (project: Pick<Project, 'placement'>, { document, size }: NewDocument): Document =>
  hasFuses(project) && size <= smallBytes ? { ...document, ...newFuse } : document;

/** A stamped update of a document that is active and has room. It stores a new fuse if the document may have one. */
export const withNewFuse = ({ $unset = {}, ...operators }: MongoDocument): MongoDocument => {
  const { _fuse, ...others } = $unset;
  const unsets = Object.keys(others).length > 0 && { $unset: others };
  return _fuse === undefined
    ? { ...operators, ...unsets }
    : { ...operators, ...unsets, $set: { ...operators.$set, ...newFuse } };
};

/** Whether the fuse can decide a change that adds so many bytes of BSON. The change must require no other checks. */
export const mayDecide = (
  { state, settle, verify, ifMatch, where, guards = [] }: Conditions,
  addedBytes: number,
): boolean =>
  state === 'active' &&
  !settle &&
  !verify &&
  ifMatch === undefined &&
  where === undefined &&
  addedBytes <= maxFusedBytes &&
  guards.every(({ leavesRoom, isAlwaysNeeded }) => leavesRoom || isAlwaysNeeded);

/** An update decided by the fuse, for documents found by their id; `undefined` if the project has no fuses. */
export const fused = ({ project, collection }: Stamped, isTrashing: boolean): MongoDocument | undefined => {
  if (!hasFuses(project)) return undefined;
  const { operators } = counting;
  const at = '_fuse.$[]';
  const decided = isTrashing ? { $inc: { ...operators.$inc, [at]: 2n ** 62n } } : { $mul: { [at]: 2 } };
  return { ...operators, ...moved(collection), ...decided, ...(dueFields(collection).length > 0 && unseen) };
};

/** Matches documents whose fuse allows an update. With this condition, MongoDB finds no document instead of failing. */
export const hasFuse: MongoDocument = { '_fuse.0': { $lt: 2n ** 62n } };

/** The result of a write, or `undefined` if a fuse, or the type of a value, rejected it. */
export const unlessRejected = async <T>(write: Promise<T>): Promise<T | undefined> => {
  try {
    return await write;
  } catch (error) {
    // The fuse causes these errors, and so does an operator on a value of another type. A revision that is not a number
    // causes them too, but no document with a fuse has one.
    if (hasCode(error, 2, 14)) return undefined;
    throw error;
  }
};
