import type { Collection as Documents, Filter, Document as MongoDocument } from 'mongodb';
import { hasTombstones, isActive, isGone, isNotGone, isTrashed } from '../../collections/trash-conditions.ts';
import { onProject } from '../../persistence/mongo.ts';
import { deserialize, maxTimeMS, rawDocument } from '../../persistence/raw-documents.ts';
import { type AccessContext, mayWrite, notOwner, obeysRules, writeFilter } from '../access/access.ts';
import { type Applied, type DocumentWrite, decideWrite, type RuleDecision } from '../access/writing.ts';
import {
  type Counting,
  counting,
  countingOf,
  type Document,
  documentId,
  documentNotFound,
  isAt,
  type JsonObject,
  revisionOf,
} from '../document.ts';
import { runsEffects } from '../effects/set-fields.ts';
import { boundedQuery } from '../query/bounded-query.ts';
import type { Condition } from '../query/condition.ts';
import { type Guard, writeGuarded } from './guarded-write.ts';
import { isJoint } from './joint-scope.ts';
import { appliedBy, type FieldOperation } from './operations.ts';
import { conditionFailed, type Preconditions, parseWriteCondition, revisionMismatch } from './preconditions.ts';
import { operationsBeside, type Settle } from './settle-update.ts';
import { stamped } from './stamps.ts';

/** Operators and upserts retry more often, so that many concurrent ones on one document all succeed. */
const operatorAttempts = 60;

/** The conditions of a write, decided by one command. */
export interface Conditions extends Preconditions {
  /** The kind of write, for rules. */
  readonly operation: DocumentWrite;
  /** The result of an update. */
  readonly applied?: Applied;
  /** The required state of the document. */
  readonly state: 'active' | 'trashed' | 'any';
  readonly guards?: readonly Guard[];
  /** Computes what an update sets if that depends on the document, which is then read first. */
  readonly settle?: Settle | undefined;
  /** The last check of what an update sets in a document that was read. Throws 400. */
  readonly verify?: ((set: JsonObject) => Promise<void>) | undefined;
  /** The operations of an update, in addition to the fields that it sets. */
  readonly operations?: readonly FieldOperation[] | undefined;
  /** The command returns the document before it, so that a joint run need not read it. */
  readonly isDirect?: boolean;
}

/** The known state of the document for an update. */
interface Known {
  readonly counting: Counting;
  /** It was read, and matches none of the guards' own filters. */
  readonly isMeasured: boolean;
  /** The result of `settle`. */
  readonly settled?: JsonObject;
  /** The document that was read. */
  readonly before?: Document;
  /** The write returns the document before it. */
  readonly isDirect: boolean;
}

interface DocumentChange<T> extends Conditions {
  /** The command, with every condition in its filter; `null` if they did not hold. */
  readonly write: (documents: Documents, filter: Filter<MongoDocument>, known: Known) => Promise<T | null>;
}

const states: Readonly<Record<Conditions['state'], Filter<MongoDocument>>> = {
  active: isActive,
  trashed: { isDeleted: true },
  any: {},
};

const isIn = (state: Conditions['state'], document: Document): boolean =>
  state === 'any' || isTrashed(document) === (state === 'trashed');

/**
 * A document that the caller may write in this state. Throws 404 if it is missing, 403 `NOT_OWNER`, 404 in another
 * state.
 */
export const writable = async (
  context: AccessContext,
  { state, guards = [], settle, operations }: Pick<Conditions, 'state' | 'guards' | 'settle' | 'operations'>,
  stored: MongoDocument | null,
  bytes: number,
  decision: RuleDecision | undefined,
): Promise<{ readonly document: Document; readonly settled?: JsonObject }> => {
  const document = stored as Document | null;
  if (!document || isGone(context.collection, document)) throw documentNotFound();
  const settledFields = async () => {
    if (!isIn(state, document)) throw documentNotFound();
    if (!decision && !settle) return undefined;
    const refused = guards.find(({ isOfOwner }) => isOfOwner)?.refusal(document, bytes);
    if (refused) throw refused;
    return settle?.(document);
  };
  let settled: JsonObject | undefined;
  if (decision) {
    await decision.require(document, async () => {
      settled = await settledFields();
      return settled && appliedBy(settled, operationsBeside(settled, operations));
    });
  } else {
    // Checked before its state, because a caller must not learn whether another user's document is in the trash.
    if (!mayWrite(context, document)) throw notOwner();
    settled = await settledFields();
  }
  return { document, ...(settled && { settled }) };
};

/** The document if it still has the revision that was read and meets a condition, made from `where`. */
const findAsRead = (
  { project, collection }: AccessContext,
  document: Document,
  where: unknown,
  condition: Condition,
): Promise<Document | null> =>
  boundedQuery(
    project,
    collection.name,
    () => ['write', document._id, where],
    (db, limitMs) =>
      db
        .collection<Document>(collection.name)
        .findOne({ _id: document._id, $and: [isAt(revisionOf(document)), condition] }, { maxTimeMS: limitMs }),
  );

/** The document if at the revision that was read it does not meet a condition. */
export const findUnmet = (
  context: AccessContext,
  document: Document,
  where: unknown,
  condition: Condition,
): Promise<Document | null> => findAsRead(context, document, where, { $nor: [condition] });

/**
 * Writes one document that the caller may write, decided by one command whose filter has every condition. Only if it
 * changed nothing is the document read for the reason: 404 if it is missing, 403 `NOT_OWNER`, 404 in another state,
 * or the error of a guard. Without a reason it retries a few times, then throws 503.
 */
export const changeDocument = async <T>(context: AccessContext, id: string, change: DocumentChange<T>): Promise<T> => {
  const { state, guards = [], settle, verify, ifMatch, where, write, operation, applied, operations } = change;
  const { project, collection } = context;
  const decision = obeysRules(context) ? await decideWrite(context, operation, applied) : undefined;
  // If only a fetched document can decide, by rules or by rights of fields, it is read first and written at the
  // revision that was read.
  const own = decision ? decision.condition : writeFilter(context);
  const asked = where === undefined ? undefined : await parseWriteCondition(context, where);
  // In a transaction an error of MongoDB would end all of it; without one, undoing needs the document before.
  const isDelayed = settle !== undefined || verify !== undefined || asked?.isDelayed === true;
  const isDirect = change.isDirect === true && !isDelayed;
  const isRead = isDelayed || (isJoint() && !isDirect);
  let allowed = isRead ? undefined : own;
  const there = state !== 'active' && hasTombstones(collection) ? isNotGone : {};
  const _id = documentId(id);
  const onDocuments = <R>(run: (documents: Documents) => Promise<R>): Promise<R> =>
    onProject(project, (db) => run(db.collection(collection.name)));
  let known: Known = { counting: stamped(context, counting), isMeasured: false, isDirect };
  const asGuards = [
    ...(ifMatch === undefined ? [] : [{ filter: isAt(ifMatch), refusal: () => undefined }]),
    // A delayed condition is checked at the revision that was read, and the write requires this revision.
    ...(asked && !asked.isDelayed ? [{ filter: asked.condition, refusal: () => undefined }] : []),
  ];
  /** Throws if a document that the caller may write does not meet the conditions of the request. */
  const requireAsked = async (document: Document): Promise<void> => {
    if (ifMatch !== undefined && revisionOf(document) !== ifMatch) throw await revisionMismatch(context, document);
    if (!asked) return;
    const { condition, isDelayed } = asked;
    const unmet = isDelayed
      ? await findUnmet(context, document, where, condition)
      : await onDocuments((documents) =>
          documents.findOne({ _id, ...states[state], ...there, $nor: [condition] }, { maxTimeMS }),
        );
    if (unmet && ifMatch !== undefined && revisionOf(unmet) !== ifMatch) throw await revisionMismatch(context, unmet);
    if (unmet) throw await conditionFailed(context, unmet);
  };
  return writeGuarded([...asGuards, ...guards], {
    write: async (conditions) => {
      const mine = allowed;
      if (!mine) return null;
      if (known.isMeasured) await verify?.(known.settled ?? {});
      const both = decision || isRead ? { $and: [mine, conditions] } : { ...mine, ...conditions };
      return onDocuments((documents) => write(documents, { _id, ...states[state], ...there, ...both }, known));
    },
    read: async () => {
      const raw = await onDocuments((documents) => documents.findOne({ _id }, { raw: true, maxTimeMS }));
      const bytes = raw && rawDocument(raw);
      const stored = bytes ? deserialize(bytes) : null;
      const of = { state, guards, settle, operations };
      const { document, settled } = await writable(context, of, stored, bytes?.byteLength ?? 0, decision);
      await requireAsked(document);
      if (decision || isRead) allowed = isAt(revisionOf(document));
      known = {
        counting: stamped(context, countingOf(document)),
        isMeasured: true,
        isDirect,
        before: document,
        ...(settled && { settled }),
      };
      return { document, bytes: bytes?.byteLength ?? 0 };
    },
    // The condition was checked after the document was read, so another write may have come in between.
    confirm: asked && (async (document) => (await findAsRead(context, document, where, asked.condition)) !== null),
    busy: 'Other requests are changing this document. Retry.',
    ...((operation === 'upsert' || operations?.length || runsEffects(context, 'update')) && {
      attempts: operatorAttempts,
    }),
  });
};
