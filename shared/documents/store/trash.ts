import type { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { daysLeft, isInTrash, isNotGone } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { logFailure } from '../../core/log.ts';
import type { PageRequest } from '../../core/values.ts';
import { onProject } from '../../persistence/mongo.ts';
import type { Project } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import { type Document, documentId, revisionField, revisionOf } from '../document.ts';
import { pageTooLarge } from '../page-size.ts';
import type { Selection } from '../query/condition.ts';
import { findRows } from '../query/find-rows.ts';
import { parseListQuery } from '../query/list-query.ts';
import type { Sort } from '../query/sort.ts';
import { filteredTotal } from '../query/total.ts';
import type { Preconditions } from './preconditions.ts';
import { isWatched, publishChange } from './publish.ts';
import { removalOf } from './removal.ts';
import { writeTombstone } from './tombstones.ts';
import { changeDocument, setFields } from './update.ts';
import { mustHaveRoom, nothingAdded } from './validate.ts';
import { shownToWriter, type WrittenDocument } from './written.ts';

/** What is asked of a document that a write deletes: its revision, and whose it was. */
const ofDeleted = ({ rls }: Collection) =>
  ({ isDeleted: 1, ...(rls.ownerField !== '' && { [rls.ownerField]: 1 as const }), [revisionField]: 1 }) as const;

/** Tells those who watch of a tombstone, which the command that made it does not answer. */
const tellOf = async (visit: AccessContext, _id: ObjectId): Promise<void> => {
  const { project, collection } = visit;
  if (!isWatched(collection)) return;
  try {
    const projection = ofDeleted(collection);
    const tombstone = await onProject(project, (db) => db.collection(collection.name).findOne({ _id }, { projection }));
    if (tombstone) await publishChange(visit, [tombstone as Document]);
  } catch (error) {
    logFailure({ message: 'Nobody was told of a deletion', project: project.id }, error);
  }
};

/**
 * Deletes a document for good, in one command, where it is in the state; otherwise → 404. Where there is a changes feed
 * a tombstone takes its place.
 */
const deletePermanently = async (
  visit: AccessContext,
  id: string,
  state: 'any' | 'trashed',
  asked: Preconditions = {},
): Promise<void> => {
  const { collection } = visit;
  const isFed = collection.feed?.on === true;
  const _id = documentId(id);
  const removal = removalOf(visit, 'delete', {});
  const remove = () =>
    changeDocument(visit, id, {
      operation: 'purge',
      state,
      ...asked,
      settle: removal?.settle,
      write: async (documents, filter, { counting }) => {
        const isDone = isFed
          ? await writeTombstone(documents, collection, _id, filter, counting)
          : (await documents.deleteOne(filter)).deletedCount === 1;
        return isDone ? true : null;
      },
    });
  await (removal ? removal.during(remove) : remove());
  if (isFed) await tellOf(visit, _id);
};

/**
 * Moves an active document to the trash, or with `permanent` removes it for good, active or trashed. Missing → 404,
 * also where it is in the trash already; another user's → 403 `NOT_OWNER`; not as it is `asked` to be → 412;
 * referred to by a Ref that restricts it → 409 `STILL_REFERENCED`. What refers to it follows, as its Ref says. Returns
 * what it did, for people, and the revision of a document that is in the trash now. Specification, "Document lifecycle".
 */
export const deleteDocument = async (
  visit: AccessContext,
  id: string,
  permanent: boolean,
  asked: Preconditions = {},
) => {
  if (permanent) {
    await deletePermanently(visit, id, 'any', asked);
    return { message: 'Document permanently deleted' };
  }
  const fields = { isDeleted: true, deletedAt: new Date(clock.now()) };
  const removal = removalOf(visit, 'trash', fields);
  const change = {
    operation: 'delete',
    state: 'active',
    ...asked,
    settle: removal?.settle,
    fields,
    projection: ofDeleted(visit.collection),
    isFused: asked.ifMatch === undefined && asked.where === undefined && !removal,
  } as const;
  const move = () => setFields(visit, id, change);
  const trashed = await (removal ? removal.during(move) : move());
  return { message: 'Document moved to trash', revision: revisionOf(trashed) };
};

/** Removes a trashed document for good; missing, or not in the trash → 404, malformed id → 400. */
export const deleteTrashedDocument = async (visit: AccessContext, id: string): Promise<string> => {
  await deletePermanently(visit, id, 'trashed');
  return 'Document permanently deleted';
};

/** Only a document that others wrote into an own database can be so large. */
const tooLargeToAnswer = (): AppError =>
  new AppError('DOCUMENT_TOO_LARGE', 'The document is too large for a response. It can only be deleted.');

/**
 * Takes a document back out of the trash and returns it, in one command, and with it what its move had moved there. Not
 * trashed → 404; its unique value taken meanwhile → 409 `DUPLICATE_VALUE`; another user's → 403 `NOT_OWNER`; larger than
 * an answer can be → 413; not as it is `asked` to be → 412. Contract 2, "Restore".
 */
export const restoreDocument = async (
  visit: AccessContext,
  id: string,
  asked: Preconditions = {},
): Promise<WrittenDocument> => {
  const fields = { isDeleted: false, deletedAt: null };
  const removal = removalOf(visit, 'recover', fields);
  const recover = () =>
    setFields(visit, id, {
      operation: 'recover',
      state: 'trashed',
      guards: [mustHaveRoom(nothingAdded, tooLargeToAnswer)],
      ...asked,
      settle: removal?.settle,
      fields,
    });
  const restored = await (removal ? removal.during(recover) : recover());
  return shownToWriter(visit, restored);
};

/** The order of the index alone, which is the same each time; a second key would have to be sorted in memory. */
const latestFirst: Sort = [{ path: 'deletedAt', direction: -1 }];

const trashed = ({ feed }: Pick<Collection, 'feed'>): Selection => ({
  conditions: [isInTrash, ...(feed ? [isNotGone] : [])],
  afterwards: [],
});

/**
 * What was trashed last first, and how many days each document has left, in the place of a field of its own of that
 * name; `total` is exact up to 10 000 (contract 6). Over 5 MiB → 400 `RESULT_TOO_LARGE`.
 */
export const listTrash = async (
  project: Project,
  collection: Pick<Collection, 'name' | 'feed'>,
  { page, limit }: PageRequest,
) => {
  const asked = parseListQuery([
    ['page', String(page)],
    ['limit', String(limit)],
  ]);
  const [{ rows, cut }, total] = await Promise.all([
    findRows(project, collection.name, trashed(collection), { ...asked, sort: latestFirst }),
    filteredTotal(project, collection.name, trashed(collection)),
  ]);
  if (cut) throw pageTooLarge(rows.length, 'Ask with a smaller limit, down to limit=1.');
  const items = rows.map(({ document }) => ({ ...document, daysLeft: daysLeft(document.deletedAt) }));
  return { items, ...total, page, limit };
};
