import type { AbstractCursor, Filter, Document as MongoDocument, ObjectId } from 'mongodb';
import { deserialize, rawBatches } from '../../clients/raw-documents.ts';
import type { Collection } from '../../collections/collection.ts';
import { onCollection } from '../../collections/on-collection.ts';
import { publicProfile, publicProfileProjection } from '../../collections/schema/public-profile.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';
import { present } from '../present.ts';
import { isClosed, mayReadAll, visibilityFilter } from '../row-security.ts';
import { isGone, isTrashed } from '../trash/trash-conditions.ts';
import { wireDocument } from '../wire-value.ts';
import { type Hint, hintById, withHint } from './owner-hint.ts';
import { Sized } from './page-size.ts';

/** What stands for a reference: a document, `null` where it points nowhere, or the id itself where it must stay. */
export type Replacement = Sized | null | 'id';

/** Id, 24 hex characters → what replaces references to it. */
export type Replacements = (id: ObjectId) => Replacement;

/** JSON is never so much smaller than BSON, so documents beyond this cannot all fit into a page. */
const maxReadBytes = 8 * 5 * 1024 * 1024;

type Found = ReadonlyMap<string, readonly [document: Document, bytes: number]>;

const take = async (cursor: AbstractCursor<unknown>): Promise<Found | undefined> => {
  const found = new Map<string, readonly [Document, number]>();
  let bytes = 0;
  for await (const batch of rawBatches(cursor)) {
    for (const raw of batch) {
      bytes += raw.byteLength;
      if (bytes > maxReadBytes) return undefined;
      const document = wireDocument(deserialize(raw)) as Document;
      found.set(String(document._id), [document, raw.byteLength]);
    }
  }
  return found;
};

const read = (
  project: Project,
  name: string,
  filter: Filter<MongoDocument>,
  projection: MongoDocument,
  hint: Hint | undefined,
): Promise<Found | undefined> =>
  onCollection(project, name, (db) =>
    withHint(hint, (named) =>
      take(db.collection(name).find(filter, { projection, raw: true, maxTimeMS: 5000, ...named })),
    ),
  );

/**
 * Fetches the documents that references into one collection point at, in one query, as far as the caller may read them.
 * A trashed one counts as missing unless `includeDeleted`, and if the caller may not see it; of `users` only public
 * profiles are returned; in a private collection, or one that asks for a second factor, what the caller does not
 * get keeps its id, so that nothing reveals what exists. `undefined`: too large for any page.
 */
export const findTargets = async (
  project: Project,
  target: Collection | undefined,
  caller: Caller,
  ids: readonly ObjectId[],
  includeDeleted: boolean,
): Promise<Replacements | undefined> => {
  if (!target) return () => null;
  const readsAll = mayReadAll(target, caller);
  if (isClosed(target, caller)) return () => 'id';
  const isUsers = target.name === 'users';
  const readable = visibilityFilter(target, caller, includeDeleted);
  const filter = { $and: [{ _id: { $in: [...ids] } }, ...(readable ? [readable] : [])] };
  const projection = isUsers ? { ...publicProfileProjection(target), isDeleted: 1 } : {};
  const found = await read(project, target.name, filter, projection, readable && hintById(target, caller));
  if (!found) return undefined;
  const known = new Map<string, Sized | null>();
  for (const [id, [document, bytes]] of found) {
    const shown = isUsers ? (publicProfile(target, document) as Document) : present(document);
    const isHidden = (isTrashed(document) && !includeDeleted) || isGone(target, document);
    known.set(id, isHidden ? null : new Sized(shown, bytes));
  }
  return (id) => known.get(id.toHexString()) ?? (known.has(id.toHexString()) || readsAll ? null : 'id');
};
