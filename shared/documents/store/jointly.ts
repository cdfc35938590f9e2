import type { ObjectId } from 'mongodb';
import { typeAt } from '../../collections/schema/field-path.ts';
import { isGone, isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { AppError, type ErrorDetail, isClientError } from '../../core/errors.ts';
import { logFailure } from '../../core/log.ts';
import { inTransaction, onProject } from '../../persistence/mongo.ts';
import { isUnavailable } from '../../persistence/mongo-errors.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import { wholeAt } from '../access/decide.ts';
import { counting, type Document, isAt, type JsonObject, nextOf, revisionOf } from '../document.ts';
import { isJsonObject } from '../values.ts';
import { wireDocument } from '../wire.ts';
import { currentScope, type JointScope, type JointWrite } from './joint-scope.ts';
import { type FieldOperation, isEqual, rootOf } from './operations.ts';
import { publishChange } from './publish.ts';
import { stamped } from './stamps.ts';
import { undoInsert } from './tombstones.ts';
import { updateOne } from './update.ts';

type Change = Extract<JointWrite, { kind: 'change' }>;

const findById = ({ project, collection }: AccessContext, _id: ObjectId): Promise<Document | null> =>
  onProject(project, (db) => db.collection<Document>(collection.name).findOne({ _id }, { maxTimeMS }));

/** Restores the changed fields if the document is still at the revision. */
const restore = async ({ context, _id, before, fields }: Change, revision: number): Promise<boolean> => {
  const { project, collection } = context;
  const { where, operators: stamps } = stamped(context, counting);
  const { $unset, ...operators } = stamps;
  const changed = [...fields].filter((field) => field !== 'updatedAt');
  const kept = changed.filter((field) => Object.hasOwn(before, field)).map((field) => [field, before[field]]);
  const missing = changed.filter((field) => !Object.hasOwn(before, field)).map((field) => [field, '']);
  // The document before the write has its own work of effects.
  const others = Object.entries($unset ?? {}).filter(([path]) => !fields.has(rootOf(path)));
  const removed = [...others, ...missing];
  const update = {
    ...operators,
    $set: { ...Object.fromEntries(kept), ...(fields.has('updatedAt') && { updatedAt: new Date(clock.now()) }) },
    ...(removed.length > 0 && { $unset: Object.fromEntries(removed) }),
  };
  const filter = { _id, $and: [isAt(revision), where] };
  const result = await onProject(project, (db) => db.collection(collection.name).updateOne(filter, update));
  return result.matchedCount === 1;
};

/** Whether JSON can hold a value. */
const isPlain = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.every(isPlain);
  if (isJsonObject(value)) return Object.values(value).every(isPlain);
  return typeof value !== 'object' || value === null;
};

/** The array without the elements that an operation has added to it; `undefined` if that cannot be told. */
const withoutAdded = (
  { collection }: AccessContext,
  operation: FieldOperation,
  before: unknown,
  value: unknown,
): readonly unknown[] | undefined => {
  if (operation.operator !== '$push' && operation.operator !== '$addToSet') return undefined;
  if (operation.added.slice !== undefined || !Array.isArray(value)) return undefined;
  const had: readonly unknown[] = Array.isArray(before) ? before : [];
  const isNew = (element: unknown) => operation.operator === '$push' || !had.some((each) => isEqual(each, element));
  const left = [...value];
  for (const element of operation.added.elements.filter(isNew)) {
    const at = left.findLastIndex((each) => isEqual(each, element));
    if (at >= 0) left.splice(at, 1);
  }
  // Values that JSON does not have get their type back from the schema.
  const isTyped = isPlain(left) || typeAt(collection, operation.path)?.items !== undefined;
  return isTyped ? JSON.parse(JSON.stringify(wireDocument({ left }).left)) : undefined;
};

/**
 * The update that undoes operations on a document that other requests have changed since; `undefined` if they cannot
 * be undone.
 */
const inverse = ({ context, operations, before }: Change, document: Document): JsonObject | undefined => {
  if (!operations) return undefined;
  const added: Record<string, number> = {};
  const arrays: Record<string, unknown> = {};
  for (const operation of operations) {
    const { path } = operation;
    if (operation.operator === '$inc') {
      added[path] = -Number(operation.operand);
    } else {
      const array = withoutAdded(context, operation, wholeAt(before, path), wholeAt(document, path));
      if (!array) return undefined;
      arrays[path] = array;
    }
  }
  return { ...arrays, ...(Object.keys(added).length > 0 && { $inc: added }) };
};

const maxTries = 50;

/** Undoes a change of a document that other requests have changed since, and keeps their changes. */
const invert = async (change: Change): Promise<boolean> => {
  const { _id, context } = change;
  const server: AccessContext = { ...context, caller: { kind: 'secret' }, runsOnlySets: true };
  for (let tries = 0; tries < maxTries; tries += 1) {
    const document = await findById(context, _id);
    if (!document || isGone(context.collection, document)) return false;
    if (isTrashed(document)) return isTrashed(change.before);
    // Another caller has recovered what the batch had deleted.
    if (change.fields.has('isDeleted')) return true;
    const body = inverse(change, document);
    if (!body) return false;
    try {
      await updateOne(server, _id.toHexString(), body, { ifMatch: revisionOf(document) });
      return true;
    } catch (error) {
      if (!isClientError(error)) throw error;
      if (error.code !== 'REVISION_MISMATCH') return false;
    }
  }
  return false;
};

/** The revision at which an undone write has left its document; `undefined` if others have written it. */
type Undone = { readonly revision?: number };

/** Undoes a write whose document should be at the revision. Returns `undefined` if it stays. */
const undoOne = async (write: JointWrite, revision: number): Promise<Undone | undefined> => {
  const { context, _id } = write;
  switch (write.kind) {
    case 'purge':
      return undefined;
    case 'insert': {
      const { project, collection } = context;
      const isUndone = await onProject(project, (db) =>
        undoInsert(db.collection(collection.name), collection, write.document, revision),
      );
      return isUndone ? {} : undefined;
    }
    case 'change': {
      if (write.isUncertain) {
        const found = await findById(context, _id);
        const now = found ? revisionOf(found) : undefined;
        if (!('_rev' in write.before) && now !== 0) throw new Error('The response of the write was lost');
        // At any other revision, the last write may be another request's.
        return now === revisionOf(write.before) ? { revision: now } : undefined;
      }
      if (await restore(write, revision)) return { revision: revision + 1 };
      return (await invert(write)) ? {} : undefined;
    }
  }
};

const writtenRevision = (write: JointWrite): number => {
  if (write.kind === 'change') return nextOf(write.before);
  return write.kind === 'insert' ? revisionOf(write.document) : 0;
};

type Stayed = JointScope['done'][number] & {
  /** The undo failed, for example because the database is down. */
  readonly isUnknown?: true;
};

/** Undoes the writes of a scope, the last one first. Returns those that stay, or may stay. */
const undoAll = async ({ done }: JointScope): Promise<Stayed[]> => {
  const stayed: Stayed[] = [];
  const revisions = new Map<string, number>();
  for (const write of done.toReversed()) {
    const name = `${write.context.collection.name} ${write._id}`;
    try {
      const undone = await undoOne(write, revisions.get(name) ?? writtenRevision(write));
      if (!undone) stayed.unshift(write);
      if (undone?.revision !== undefined) revisions.set(name, undone.revision);
    } catch (error) {
      logFailure({ message: 'A write of a batch was not undone', project: write.context.project.id }, error);
      stayed.unshift({ ...write, isUnknown: true });
    }
  }
  return stayed;
};

const partlyDone = (refused: unknown, stayed: readonly Stayed[], index: number | undefined): AppError => {
  const known = refused instanceof AppError ? refused : undefined;
  const first: readonly ErrorDetail[] = known?.errors ?? [
    { ...(index !== undefined && { index }), message: known?.message ?? 'The service failed.' },
  ];
  const others = stayed.map(({ index: at, context, isUnknown }) => ({
    ...(at !== undefined && { index: at }),
    collection: context.collection.name,
    message: isUnknown
      ? `This write of "${context.collection.name}" may have stayed, because the undo failed`
      : `This write of "${context.collection.name}" stayed, because the document was changed again`,
  }));
  const message = `A write was rejected (${known?.code ?? 'INTERNAL_ERROR'}: ${known?.message ?? 'the service failed'}). ${stayed.length} earlier writes could not be undone; errors lists them.`;
  return new AppError('BATCH_PARTLY_DONE', message, { errors: [...first, ...others], cause: refused });
};

const newScope = (isAtomic: boolean): JointScope => ({
  isAtomic,
  writes: 0,
  done: [],
  published: new Map(),
  afterwards: [],
  onFailure: [],
  causes: [],
  last: [],
});

/** Publishes the written documents, and does the work that waited for the commit. */
const finish = async (scope: JointScope): Promise<void> => {
  for (const { context, documents } of scope.published.values()) {
    await publishChange(context, [...documents.values()]);
  }
  for (const act of scope.afterwards) await act(scope);
};

const abandon = async ({ onFailure }: JointScope): Promise<void> => {
  for (const act of onFailure) await act().catch(() => undefined);
};

/** The result of a joint run. */
export interface Joint<T> {
  readonly result: T;
  /** Whether they ran in a transaction. */
  readonly isAtomic: boolean;
}

/**
 * Runs writes all or none, one after the other: in a transaction, or on a server without transactions with an undo
 * of those that were done before one was refused. `act` uses the usual functions for documents, and may run several
 * times. Publishing and the documents that follow wait for the commit. Joins a joint run that is around it. Throws
 * the error of `act`; 503 if an outage interrupted the only write; 503 `TOO_MANY_WRITERS`; 409 `BATCH_PARTLY_DONE` if not everything could be undone.
 */
export const jointly = async <T>(project: Project, act: () => Promise<T>): Promise<Joint<T>> => {
  const around = currentScope.getStore();
  if (around) return { result: await act(), isAtomic: around.isAtomic };
  let scope = newScope(true);
  const run = async (): Promise<T> => {
    try {
      return await currentScope.run(scope, act);
    } catch (error) {
      await currentScope.exit(() => abandon(scope));
      scope = newScope(true);
      throw error;
    }
  };
  const committed = await inTransaction(project, run);
  if (committed) {
    await finish(scope);
    return { result: committed.result, isAtomic: true };
  }
  const undoable = newScope(false);
  const runUndoable = async () => currentScope.run(undoable, act);
  const result = await runUndoable().catch(async (error: unknown) => {
    const stayed = await undoAll(undoable);
    // After an outage, the outcome of the interrupted command is unknown, as in a single request: 503.
    const { index: running = 0 } = undoable;
    const isUnknown = stayed.every(({ isUnknown: unknown, index = 0 }) => unknown && index >= running);
    if (isUnknown && stayed.length > 0 && isUnavailable(error)) throw error;
    if (stayed.length > 0) throw partlyDone(error, stayed, undoable.index);
    await abandon(undoable);
    throw error;
  });
  await finish(undoable);
  return { result, isAtomic: false };
};
