import { type Document as MongoDocument, Timestamp } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { dueFields, seenField } from '../../collections/effects/effect.ts';
import type { Project } from '../../projects/project.ts';
import type { Counting } from '../document.ts';

/* What every write adds to a document: its revision, its position in the changes feed, and what effects wait for. */

type Fed = Pick<Collection, 'feed'>;

export interface Stamped {
  readonly project: Pick<Project, 'placement'>;
  readonly collection: Fed & Pick<Collection, 'effects'>;
}

/** MongoDB replaces it with its own clock in an insert. The values are unique and increasing. */
const now = new Timestamp({ t: 0, i: 0 });

/** The fields that an insert stores for the changes feed, if the collection has one. */
export const insertedAt = ({ feed }: Fed): { readonly _pos?: Timestamp } => (feed?.on ? { _pos: now } : {});

/** Gives each updated document its own position. */
export const movedNow: MongoDocument = { $currentDate: { _pos: { $type: 'timestamp' } } };

export const moved = ({ feed }: Fed): MongoDocument => (feed?.on ? movedNow : {});

/** Removes the [fuse](fuse.ts), because this write does not check what the fuse stands for. */
const withoutFuse: MongoDocument = { $unset: { _fuse: '' } };

/** After each write, effects that run at a time check the document again. */
export const unseen: MongoDocument = { $unset: { [seenField]: '' } };

/** An update found by a filter: also gives the document its position, and removes the fuse. */
export const stamped = ({ project, collection }: Stamped, { where, operators }: Counting): Counting => {
  const $unset = {
    ...(project.placement.kind === 'managed' && withoutFuse.$unset),
    ...(dueFields(collection).length > 0 && unseen.$unset),
  };
  return {
    where,
    operators: { ...operators, ...moved(collection), ...(Object.keys($unset).length > 0 && { $unset }) },
  };
};

/** The update that makes a document a tombstone. */
export const tombstoned = ({ operators }: Counting): MongoDocument => ({ ...operators, ...movedNow, ...withoutFuse });
