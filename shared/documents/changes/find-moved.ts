import { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { feedKeys } from '../../collections/indexes/indexes.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import type { Project } from '../../projects/project.ts';
import { revisionOf } from '../revision.ts';
import { afterPosition, placeOf, walkFeed } from './find-changes.ts';
import type { At, FeedPosition } from './position.ts';

/** That a document has changed, and not how. */
export interface Moved {
  readonly _id: ObjectId;
  readonly rev: number;
  readonly isDeleted: boolean;
  readonly createdAt: Date | undefined;
}

const projection = { _rev: 1, _pos: 1, isDeleted: 1, createdAt: 1 } as const;

/**
 * Which documents changed after a position, whoever may see them, in the order of their places, in one find; those with
 * ids of another kind not. Returns whether others follow, too.
 */
export const findMoved = async (project: Project, collection: Collection, position: FeedPosition, limit: number) => {
  const find = { filter: afterPosition(position), sort: { _pos: 1 }, projection, hint: feedKeys(), limit } as const;
  const [moved, places]: [Moved[], At[]] = [[], []];
  await walkFeed({ project, collection }, find, (stored) => {
    const { _id, createdAt } = stored;
    places.push(placeOf(stored));
    if (!(_id instanceof ObjectId)) return true;
    const madeAt = createdAt instanceof Date ? createdAt : undefined;
    moved.push({ _id, rev: revisionOf(stored), isDeleted: isTrashed(stored), createdAt: madeAt });
    return true;
  });
  return { moved, places, more: places.length === limit };
};
