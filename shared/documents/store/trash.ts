import type { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { countEffectWrites, sendsMail } from '../../collections/effects/effect.ts';
import { daysLeft, hasTombstones, isInTrash, isNotGone, isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { logFailure } from '../../core/log.ts';
import type { PageRequest } from '../../core/values.ts';
import { onProject } from '../../persistence/mongo.ts';
import type { Project } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import { effectsOf } from '../access/rules-of.ts';
import { type Document, documentId, type JsonObject, nextOf, revisionField, revisionOf } from '../document.ts';
import { pendingMails, pendingMailsOf, wakeForMails } from '../effects/pending-mails.ts';
import { chosenBy } from '../effects/set-fields.ts';
import { pageTooLarge } from '../page-size.ts';
import type { Selection } from '../query/condition.ts';
import { findRows } from '../query/find-rows.ts';
import { parseListQuery } from '../query/list-query.ts';
import type { Sort } from '../query/sort.ts';
import { filteredTotal } from '../query/total.ts';
import { changeDocument } from './change-document.ts';
import { afterEffects, countWrites, noteWrite } from './joint-scope.ts';
import { appliedBy } from './operations.ts';
import type { Preconditions } from './preconditions.ts';
import { isWatched, publishChange } from './publish.ts';
import { removalOf } from './removal.ts';
import type { Settle } from './settle-update.ts';
import { writeTombstone } from './tombstones.ts';
import { mustHaveRoom, nothingAdded } from './validate.ts';
import { setFields } from './write-fields.ts';
import { shownToWriter, type WrittenDocument } from './written.ts';

const mailsField = '_effects.mails';

/** What is read of a document that a write deletes: its revision, its owner, its partition, and emails to queue. */
const ofDeleted = ({ rls, partition = '', effects }: Collection): Readonly<Record<string, 1>> => {
  const ofEffects = effects && sendsMail({ effects }, 'delete') ? ['_effects'] : [];
  const names = ['isDeleted', revisionField, rls.ownerField, partition, ...ofEffects].filter((name) => name !== '');
  return Object.fromEntries(names.map((name) => [name, 1]));
};

/** Adds the emails that effects send after a deletion to the write of an active document, if some do. */
export const withMailsOnDelete = (
  context: AccessContext,
  settle: Settle | undefined,
  fields: JsonObject,
): Settle | undefined => {
  if (context.runsOnlySets || !sendsMail(context.collection, 'delete')) return settle;
  return async (document) => {
    const set = settle ? await settle(document) : fields;
    if (isTrashed(document)) return set;
    const { effects, known } = await effectsOf(context.project, context.collection);
    const sending = effects.filter(({ mail, on }) => mail && on.includes('delete'));
    const chosen = await Promise.all(
      sending.map(async (effect) => (await chosenBy(context, known, effect, [{ document }]))[0]),
    );
    for (const [index, { at }] of sending.entries()) context.onEffect?.(at, { applies: chosen[index] === true });
    const mails = sending.filter((_effect, index) => chosen[index]);
    const pending = pendingMails(context, mails, document, nextOf(document));
    return pending.length === 0 ? set : { ...set, [mailsField]: [...pendingMailsOf(document), ...pending] };
  };
};

/** Publishes a tombstone, which the command that made it does not return. */
const tellOf = async (context: AccessContext, _id: ObjectId): Promise<void> => {
  const { project, collection } = context;
  if (!isWatched(collection)) return;
  try {
    const projection = ofDeleted(collection);
    const tombstone = await onProject(project, (db) => db.collection(collection.name).findOne({ _id }, { projection }));
    if (tombstone) await publishChange(context, [tombstone as Document]);
  } catch (error) {
    logFailure({ message: 'No one was notified of a deletion', project: project.id }, error);
  }
};

interface Purging extends Preconditions {
  readonly state: 'any' | 'trashed';
  /** It was moved to the trash a moment ago, by the same request. */
  readonly wasActive?: true;
  /** Who asked for it, if the service itself does it. Errors about references tell them no more than they may know. */
  readonly asking?: AccessContext;
}

/**
 * Deletes a document permanently, with one command, if it is in the state. Throws 404 otherwise. If there is a
 * changes feed, a tombstone takes its place. A tombstone also keeps the emails of effects until they are queued.
 */
const deletePermanently = async (
  context: AccessContext,
  id: string,
  { wasActive, asking = context, ...asked }: Purging,
): Promise<void> => {
  const { collection } = context;
  const isFed = collection.feed?.on === true;
  const _id = documentId(id);
  const removal = removalOf(asking, 'delete', {});
  const follow: Settle | undefined =
    removal && ((document) => removal.settle(wasActive ? { ...document, isDeleted: false } : document));
  // A document whose emails wait, for example of its move to the trash, must be read.
  const settle = withMailsOnDelete(context, follow, {});
  let kept: Document = { _id };
  const remove = () => {
    countWrites();
    return changeDocument(context, id, {
      operation: 'purge',
      ...asked,
      settle,
      write: async (documents, filter, { counting, settled, before }) => {
        kept = appliedBy(settled ?? {}).to(before ?? { _id });
        const mails = hasTombstones(collection) ? pendingMailsOf(kept) : [];
        const more = mails.length > 0 ? { [mailsField]: mails } : {};
        const isDone =
          isFed || mails.length > 0
            ? await writeTombstone(documents, collection, _id, filter, counting, more)
            : (await documents.deleteOne(filter)).deletedCount === 1;
        return isDone ? true : null;
      },
    });
  };
  await (removal ? removal.during(remove) : remove());
  noteWrite({ context, kind: 'purge', _id });
  if (isFed) await tellOf(context, _id);
  if (!wasActive) await wakeForMails(context, [kept]);
};

/**
 * Deletes an active document permanently after the effects of its deletion: it is moved to the trash first, because
 * that can be undone if one of them is rejected. Returns false if it is not active.
 */
const deleteAfterEffects = async (context: AccessContext, id: string, asked: Preconditions): Promise<boolean> => {
  const fields = { isDeleted: true, deletedAt: new Date(clock.now()) };
  const projection = ofDeleted(context.collection);
  try {
    await setFields(context, id, {
      operation: 'purge',
      state: 'active',
      ...asked,
      settle: withMailsOnDelete(context, undefined, fields),
      fields,
      projection,
      event: 'delete',
    });
  } catch (error) {
    if (error instanceof AppError && error.code === 'DOCUMENT_NOT_FOUND') return false;
    throw error;
  }
  const server: AccessContext = { ...context, caller: { kind: 'secret' } };
  afterEffects(() => deletePermanently(server, id, { state: 'trashed', wasActive: true, asking: context }));
  return true;
};

/**
 * Moves an active document to the trash, or with `permanent` deletes it permanently, active or trashed. Throws 404
 * if it is missing or already in the trash, 403 `NOT_OWNER` for another user's document, 412 if it is not as
 * `asked`, 409 `STILL_REFERENCED` if a Ref restricts it. References follow as their Refs say. Returns a message, and
 * the revision of a trashed document. Specification, "Document lifecycle".
 */
export const deleteOne = async (context: AccessContext, id: string, permanent: boolean, asked: Preconditions = {}) => {
  if (permanent) {
    const isEffective = countEffectWrites(context.collection, 'delete') > 0;
    const isDone = isEffective && (await deleteAfterEffects(context, id, asked));
    if (!isDone) await deletePermanently(context, id, { ...asked, state: 'any' });
    return { message: 'Document permanently deleted' };
  }
  const fields = { isDeleted: true, deletedAt: new Date(clock.now()) };
  const removal = removalOf(context, 'trash', fields);
  const settle = withMailsOnDelete(context, removal?.settle, fields);
  const change = {
    operation: 'delete',
    state: 'active',
    ...asked,
    settle,
    fields,
    projection: ofDeleted(context.collection),
    event: 'delete',
  } as const;
  const move = () => setFields(context, id, change);
  const written = await (removal ? removal.during(move) : move());
  return { message: 'Document moved to trash', revision: revisionOf(written) };
};

/** Deletes a trashed document permanently. Throws 404 if it is missing or not in the trash, 400 for a malformed id. */
export const deleteTrashedDocument = async (context: AccessContext, id: string): Promise<string> => {
  await deletePermanently(context, id, { state: 'trashed' });
  return 'Document permanently deleted';
};

/** Only a document in a customer's database, written by another program, can be so large. */
const tooLargeToAnswer = (): AppError =>
  new AppError('DOCUMENT_TOO_LARGE', 'The document is too large for a response. It can only be deleted.');

/**
 * Recovers a document from the trash with one command and returns it, together with what its move had moved there.
 * Throws 404 if it is not in the trash, 409 `DUPLICATE_VALUE` if its unique value is taken, 403 `NOT_OWNER` for
 * another user's document, 413 if it is too large for a response, 412 if it is not as `asked`. Contract 2,
 * "Restore".
 */
export const restoreOne = async (
  context: AccessContext,
  id: string,
  asked: Preconditions = {},
): Promise<WrittenDocument> => {
  const fields = { isDeleted: false, deletedAt: null };
  const removal = removalOf(context, 'recover', fields);
  const recover = () =>
    setFields(context, id, {
      operation: 'recover',
      state: 'trashed',
      guards: [mustHaveRoom(nothingAdded, tooLargeToAnswer)],
      ...asked,
      settle: removal?.settle,
      fields,
      event: 'create',
    });
  const written = await (removal ? removal.during(recover) : recover());
  return shownToWriter(context, written);
};

/** Only the order of the index: a second key would be sorted in memory. */
const latestFirst: Sort = [{ path: 'deletedAt', direction: -1 }];

const trashed = (collection: Pick<Collection, 'feed' | 'effects'>): Selection => ({
  conditions: [isInTrash, ...(hasTombstones(collection) ? [isNotGone] : [])],
  afterwards: [],
});

/**
 * The trash, latest first, with the days that each document has left as `daysLeft`, in place of a field of that
 * name; `total` is exact up to 10 000 (contract 6). Throws 400 `RESULT_TOO_LARGE` above 5 MiB.
 */
export const listTrash = async (
  project: Project,
  collection: Pick<Collection, 'name' | 'feed' | 'effects'>,
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
  if (cut) throw pageTooLarge(rows.length, 'Send a smaller limit, such as limit=1.');
  const items = rows.map(({ document }) => ({ ...document, daysLeft: daysLeft(document.deletedAt) }));
  return { items, ...total, page, limit };
};
