import { type Document as MongoDocument, MongoServerError } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import type { EffectEvent } from '../../collections/effects/effect.ts';
import { onProject } from '../../persistence/mongo.ts';
import { isOutage } from '../../persistence/mongo-errors.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import { type AccessContext, obeysRules, writeFilter } from '../access/access.ts';
import { type Document, documentId, documentNotFound, type JsonObject, nextOf, revisionField } from '../document.ts';
import { wakeForMails } from '../effects/pending-mails.ts';
import type { Condition } from '../query/condition.ts';
import { type Conditions, changeDocument } from './change-document.ts';
import { fused, hasFuse, mayDecide, unlessRejected, withNewFuse } from './fuse.ts';
import { countWrites, isJoint, noteCause, noteWrite } from './joint-scope.ts';
import { appliedBy, type FieldOperation, joinOperators, toOperators } from './operations.ts';
import { publishChange } from './publish.ts';
import { operationsBeside } from './settle-update.ts';
import { countingClashes } from './unique-clashes.ts';

/** Fields to set, and the returned fields of the document, if not all. */
interface Fields extends Conditions {
  readonly fields: JsonObject;
  readonly projection?: { readonly [field: string]: 1 };
  /** The event whose effects follow. If they write documents, the run must be joint. */
  readonly event?: EffectEvent;
  /** The bytes of BSON that it adds to the document; 0 by default. */
  readonly addedBytes?: number;
}

const isTrashing = ({ fields }: Fields): boolean => fields.isDeleted === true;

const answerOf = ({ projection }: Fields) => ({ returnDocument: 'after', ...(projection && { projection }) }) as const;

/** Conditions that must hold even if the fuse decides. */
const alwaysNeeded = ({ guards = [], operations }: Fields): readonly Condition[] =>
  !operations
    ? []
    : guards.flatMap(({ isAlwaysNeeded, filter }) =>
        isAlwaysNeeded && Object.keys(filter).length > 0 ? [filter] : [],
      );

/** Adds the requested operations to an update, except those on fields that effects set. */
const withOperations = (
  { operations }: Fields,
  settled: JsonObject | undefined,
  update: MongoDocument,
): MongoDocument => {
  const left = settled ? operationsBeside(settled, operations) : operations;
  return left?.length ? joinOperators(update, toOperators(left)) : update;
};

interface Changing {
  readonly before: Document;
  readonly fields: JsonObject;
  readonly operations?: readonly FieldOperation[] | undefined;
}

/** The note about a change in a joint run that undoing it needs. */
const noteOf = (context: AccessContext, { before, fields, operations = [] }: Changing) => {
  const isPlain = Object.keys(fields).some((path) => path !== 'updatedAt');
  return {
    context,
    kind: 'change',
    _id: before._id,
    before,
    fields: appliedBy(fields, operations).fields,
    ...(!isPlain && { operations }),
  } as const;
};

/** Whether a failed command may have been carried out. */
const isUncertain = (error: unknown): boolean => !(error instanceof MongoServerError) || isOutage(error);

/** Notes a change of a joint run, so that it can be undone. After an outage it may have happened. */
const notingChange = async <T>(
  context: AccessContext,
  changing: Changing | undefined,
  write: () => Promise<T | null>,
): Promise<T | null> => {
  if (!changing || !isJoint()) return write();
  const noted = noteOf(context, changing);
  try {
    const written = await write();
    if (written !== null) noteWrite(noted);
    return written;
  } catch (error) {
    if (isUncertain(error)) noteWrite({ ...noted, isUncertain: true });
    throw error;
  }
};

/** In a transaction, an error ends all of it. So after an error, documents of the collection are read first. */
const careful = new WeakSet<Collection>();

/** Whether a write of a joint run can be decided by its command alone. */
const mayBeDirect = ({ collection, runsOnlySets }: AccessContext): boolean =>
  runsOnlySets === true && isJoint() && !(currentTransaction.getStore() && careful.has(collection));

/** Writes with one command that returns the document before it, and notes the change. Returns the document after it. */
const writeDirectly = async (
  context: AccessContext,
  id: string,
  changing: Omit<Changing, 'before'>,
  write: () => Promise<MongoDocument | null>,
): Promise<Document | null> => {
  try {
    const before = (await write()) as Document | null;
    if (!before) return null;
    noteWrite(noteOf(context, { ...changing, before }));
    const made = appliedBy(changing.fields, changing.operations).to(before);
    return { ...made, [revisionField]: nextOf(before) };
  } catch (error) {
    if (currentTransaction.getStore()) careful.add(context.collection);
    const before = { _id: documentId(id) };
    if (isUncertain(error)) noteWrite({ ...noteOf(context, { ...changing, before }), isUncertain: true });
    throw error;
  }
};

/**
 * Writes the document if its fuse allows; `undefined` if conditions have to decide. In a joint run a filter checks the
 * fuse, because an error of MongoDB would end a transaction.
 */
const setByFuse = async (context: AccessContext, id: string, change: Fields): Promise<Document | undefined> => {
  const { project, collection, caller } = context;
  const operators = fused(context, isTrashing(change));
  if (!operators) return undefined;
  const isDirect = isJoint();
  const filter = { _id: documentId(id), ...writeFilter(context), ...(isDirect && hasFuse) };
  const update = withOperations(change, undefined, { ...operators, $set: change.fields });
  const conditions = alwaysNeeded(change);
  const both = conditions.length > 0 ? { ...filter, $and: [...conditions] } : filter;
  const written = await onProject(project, (db) => {
    const carryOut = (options: object) => db.collection(collection.name).findOneAndUpdate(both, update, options);
    return unlessRejected(
      isDirect
        ? writeDirectly(context, id, change, () => carryOut({ returnDocument: 'before' }))
        : carryOut(answerOf(change)),
    );
  });
  if (written === null && caller.kind === 'secret' && !isDirect && conditions.length === 0) throw documentNotFound();
  return (written as Document | null) ?? undefined;
};

interface Changed {
  readonly written: Document;
  /** The document before the write, if it was read. A joint run reads it, except for effects that only set fields. */
  readonly before?: Document | undefined;
}

/** Sets fields of one document that the caller may write, publishes the change, and returns the document after it. */
export const setFields = async (context: AccessContext, id: string, change: Fields): Promise<Document> => {
  const { event } = change;
  const { written, before = written } = await countingClashes(context, () => writeFields(context, id, change));
  await publishChange(context, [written]);
  if (event === 'delete') noteCause(context, event, [{ document: before, index: 0 }]);
  else if (event)
    noteCause(context, event, [{ document: written, index: 0, ...(event === 'update' && { stored: before }) }]);
  await wakeForMails(context, [written]);
  return written;
};

const writeFields = async (context: AccessContext, id: string, change: Fields): Promise<Changed> => {
  let last: Document | undefined;
  const isDirect = mayBeDirect(context);
  const isFused = mayDecide(change, change.addedBytes ?? 0) && !obeysRules(context) && (isDirect || !isJoint());
  countWrites();
  const byFuse = isFused ? await setByFuse(context, id, change) : undefined;
  const leavesRoom = !isTrashing(change) && change.guards?.some((guard) => guard.leavesRoom);
  const written =
    byFuse ??
    (await changeDocument(context, id, {
      ...change,
      isDirect,
      write: (documents, filter, { counting: { where, operators }, isMeasured, isDirect, settled, before }) => {
        const stamps = leavesRoom && !isMeasured ? withNewFuse(operators) : operators;
        const fields = settled ?? change.fields;
        const update = withOperations(change, settled, { ...stamps, $set: { ...fields, ...stamps.$set } });
        last = before;
        const { operations } = change;
        const carryOut = (options: object) =>
          documents.findOneAndUpdate({ ...filter, $and: [...(filter.$and ?? []), where] }, update, options);
        const changing = before && { before, fields, operations };
        const write = isDirect
          ? writeDirectly(context, id, { fields, operations }, () => carryOut({ returnDocument: 'before' }))
          : notingChange(context, changing, () => carryOut(answerOf(change)));
        // If an operator meets a value of another type, the document is read and a guard gives the error.
        return change.operations ? unlessRejected(write).then((made) => made ?? null) : write;
      },
    }));
  return { written: written as Document, before: last };
};
