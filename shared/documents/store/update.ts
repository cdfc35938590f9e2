import {
  type Collection as Documents,
  type Filter,
  type Document as MongoDocument,
  MongoServerError,
  ObjectId,
} from 'mongodb';
import { type Collection, ownerFieldOf } from '../../collections/collection.ts';
import { fieldAt, fieldsOf, typeAt, unknownPaths } from '../../collections/schema/field-path.ts';
import { checksReferences } from '../../collections/schema/references.ts';
import { hasTombstones, isActive, isGone, isNotGone, isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { AppError, type FieldError, validationFailed } from '../../core/errors.ts';
import { idOf } from '../../core/values.ts';
import { onProject } from '../../persistence/mongo.ts';
import { isOutage } from '../../persistence/mongo-errors.ts';
import { deserialize, maxTimeMS, rawDocument } from '../../persistence/raw-documents.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import { databaseFull, hasDatabaseRoom } from '../../projects/database-quota.ts';
import {
  type AccessContext,
  isSameOwner,
  mayWrite,
  notOwner,
  ownedBy,
  requireWriteAccess,
  writeFilter,
} from '../access/access.ts';
import { unreadablePaths } from '../access/field-rights.ts';
import { type Applied, type DocumentWrite, decideWrite, obeysRules, type RuleDecision } from '../access/rule-access.ts';
import {
  type Counting,
  counting,
  countingOf,
  type Document,
  documentId,
  documentNotFound,
  isAt,
  type JsonObject,
  nextOf,
  revisionField,
  revisionOf,
} from '../document.ts';
import { runsEffects } from '../effects/set-fields.ts';
import { wakeForMails } from '../effects/wake.ts';
import { boundedQuery } from '../query/bounded-query.ts';
import type { Condition } from '../query/condition.ts';
import type { ParsedFilter } from '../query/filter.ts';
import { convert } from '../values.ts';
import { appliedBy, rootOf } from './applied.ts';
import { arrayGuards } from './bounded-arrays.ts';
import { type Guard, writeGuarded } from './guarded-write.ts';
import { countWrites, isJoint, noteCause, noteWrite } from './joint-scope.ts';
import { type FieldOperation, joinOperators, toOperators } from './operations.ts';
import { mustKeepOwner, mustNotAdd, operatorGuards } from './operator-guards.ts';
import { parseOperators } from './parse-operators.ts';
import {
  conditionFailed,
  type Preconditions,
  parseWriteCondition,
  requireConditions,
  revisionMismatch,
} from './preconditions.ts';
import { publishChange } from './publish.ts';
import { requireReferences, setsReferences } from './references.ts';
import { operationsBeside, settleEffects } from './settle-effects.ts';
import { type Settle, settleUpdate } from './settle-update.ts';
import { fused, maxFusedBytes, stamped, unlessRejected, withNewFuse } from './stamps.ts';
import { countingClashes } from './unique-clashes.ts';
import {
  guardsOf,
  mustNotGrow,
  requireDisjoint,
  requireEntrances,
  requireFewPaths,
  requirePath,
} from './update-path.ts';
import { addedBy, documentTooLarge, mustHaveRoom, sanitizeUpdate } from './validate.ts';
import { shownToWriter, type WrittenDocument } from './written.ts';

/**
 * Operators and upserts retry more often, so that of many concurrent ones that must read the document first, each
 * succeeds.
 */
const operatorAttempts = 60;

/** When a document is written, decided by one conditional command. */
interface Conditions extends Preconditions {
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

/** What is known of the document for an update. */
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
    // Whether another user's document is in the trash must stay hidden, so this comes before the check of its state.
    if (!mayWrite(context, document)) throw notOwner();
    settled = await settledFields();
  }
  return { document, ...(settled && { settled }) };
};

/** The document if it still has the revision that was read and meets a condition, which is made of `where`. */
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
  countWrites();
  let allowed = isRead ? undefined : own;
  const there = state !== 'active' && hasTombstones(collection) ? isNotGone : {};
  const _id = documentId(id);
  const onDocuments = <R>(run: (documents: Documents) => Promise<R>): Promise<R> =>
    onProject(project, (db) => run(db.collection(collection.name)));
  let known: Known = { counting: stamped(context, counting), isMeasured: false, isDirect };
  const asGuards = [
    ...(ifMatch === undefined ? [] : [{ filter: isAt(ifMatch), refusal: () => undefined }]),
    // A delayed one holds at the revision that was read, at which the document is then written.
    ...(asked && !asked.isDelayed ? [{ filter: asked.condition, refusal: () => undefined }] : []),
  ];
  /** Throws if a document that the caller may write is not as they require. */
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
    busy: 'The document is being changed by others right now. Retry.',
    ...((operation === 'upsert' || operations?.length || runsEffects(context, 'update')) && {
      attempts: operatorAttempts,
    }),
  });
};

/** Fields to set, and the returned fields of the document, if not all. */
interface Fields extends Conditions {
  readonly fields: JsonObject;
  readonly projection?: { readonly [field: string]: 1 };
  /** Whether the fuse can decide in place of the conditions. */
  readonly isFused?: boolean;
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

/** Writes the document if its fuse allows; `undefined` if a filter has to decide. */
const setByFuse = async (context: AccessContext, id: string, change: Fields): Promise<Document | undefined> => {
  const { project, collection, caller } = context;
  const filter = { _id: documentId(id), ...writeFilter(context) };
  const operators = fused(context, isTrashing(change));
  if (!operators) return undefined;
  const update = withOperations(change, undefined, { ...operators, $set: change.fields });
  const conditions = alwaysNeeded(change);
  const both = conditions.length > 0 ? { ...filter, $and: [...conditions] } : filter;
  const written = await onProject(project, (db) =>
    unlessRejected(db.collection(collection.name).findOneAndUpdate(both, update, answerOf(change))),
  );
  if (written === null && caller.kind === 'secret' && conditions.length === 0) throw documentNotFound();
  return (written as Document | null) ?? undefined;
};

interface Changing {
  readonly before: Document;
  readonly fields: JsonObject;
  readonly operations: readonly FieldOperation[] | undefined;
}

/** A change of a joint run, as undoing it needs it. */
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

/** In a transaction an error ends all of it, so after one the documents of a collection are read first. */
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

interface Changed {
  readonly written: Document;
  /** The document before the write; present in a joint run. */
  readonly before?: Document | undefined;
}

/** Sets fields of one document that the caller may write, publishes the change, and returns the document after it. */
export const setFields = async (context: AccessContext, id: string, change: Fields): Promise<Changed> => {
  const changed = await countingClashes(context, () => writeFields(context, id, change));
  await publishChange(context, [changed.written]);
  await wakeForMails(context, [changed.written]);
  return changed;
};

const writeFields = async (context: AccessContext, id: string, change: Fields): Promise<Changed> => {
  let last: Document | undefined;
  const byFuse =
    change.isFused && !obeysRules(context) && !isJoint() ? await setByFuse(context, id, change) : undefined;
  const leavesRoom = !isTrashing(change) && change.guards?.some((guard) => guard.leavesRoom);
  const written =
    byFuse ??
    (await changeDocument(context, id, {
      ...change,
      isDirect: mayBeDirect(context),
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

/** A validated update, prepared before the database is queried. */
export interface UpdatePlan {
  /** The body without what callers never write. */
  readonly sent: JsonObject;
  /** Dotted path → stored value, for `$set`. */
  readonly set: JsonObject;
  /** The operations, in addition to the fields that are set. */
  readonly operations?: readonly FieldOperation[];
  /** The paths in operators. */
  readonly operated: readonly string[];
  /** Conditions in operators. */
  readonly filters: readonly ParsedFilter[];
  /** Dotted path → values that operators add to arrays. */
  readonly additions: JsonObject;
  /** The maximum growth of the document in bytes of BSON. */
  readonly size: number;
  /** The requirements of the document. */
  readonly guards: readonly Guard[];
}

const ownerImmutable = (): AppError => new AppError('OWNER_IMMUTABLE', 'Owner field immutable');

/**
 * The unchanged owner may be sent along, because clients send whole documents back. A caller who `mayClaim` may also
 * set the owner of a document that has none; the write decides, so only one of several concurrent callers succeeds.
 */
const keepsOwner = (collection: Collection, owner: unknown, mayClaim: boolean): Guard => {
  const { ownerField } = collection.rls;
  const isRef = typeAt(collection, ownerField)?.type === 'Ref';
  const same = ownedBy(ownerField, owner);
  const claims = mayClaim && (typeof owner === 'string' || owner instanceof ObjectId);
  return {
    isOfOwner: true,
    filter: claims ? { $or: [same, ownedBy(ownerField, null)] } : same,
    refusal: (document) => {
      const now = document[ownerField] ?? null;
      if (isSameOwner(now, owner) || (claims && now === null)) return undefined;
      if (!mayClaim || now !== null) return ownerImmutable();
      return validationFailed({
        field: ownerField,
        message: `${ownerField} must be ${isRef ? 'the id of a user' : 'a String'}`,
      });
    },
  };
};

const partitionImmutable = (field: string): AppError =>
  validationFailed({ field, message: `${field} cannot change: it is the partition of the collection` });

/** The unchanged partition may be sent along. A document without one, older than the setting, may get it. */
const keepsPartition = (field: string, value: unknown): Guard => ({
  filter: { [field]: { $in: [value, null] } },
  refusal: (document) => {
    const now = document[field] ?? null;
    return now === null || isSameOwner(now, value) ? undefined : partitionImmutable(field);
  },
});

/** The owner field of a collection under row security. No update changes it once it is set. */
const immutableField = ({ rls }: Collection): string | undefined => ownerFieldOf(rls);

const storedValues = (collection: Collection, sent: JsonObject): JsonObject => {
  const owner = immutableField(collection);
  const fields = fieldsOf(collection);
  const errors: FieldError[] = [...unknownPaths(collection, fields, sent)];
  const entries = Object.entries(sent).map(([path, value]): [string, unknown] => {
    const at = fieldAt(fields, path);
    // A value that is not an owner is rejected like another owner.
    if (path === owner) return [path, at?.type === 'Ref' ? (idOf(value) ?? value) : value];
    return [path, at ? convert(at, value, path, errors) : value];
  });
  if (errors.length > 0) throw validationFailed(...errors);
  return Object.fromEntries(entries);
};

/** Only the token counts before the body of an update is looked at. */
const anyFields: Applied = appliedBy({});

const pathOf = ({ path }: FieldOperation): string => path;

/** Whether an operator creates a missing value, and the objects around it. */
const creates = ({ operator }: FieldOperation): boolean => operator !== '$unset' && operator !== '$pull';

/** The numbers and dates that operators store if nothing is there yet, as large as they can be. */
const numbersIn = (operations: readonly FieldOperation[] = []): JsonObject =>
  Object.fromEntries(operations.flatMap((each) => ('operand' in each ? [[each.path, each.operand]] : [])));

/** The same update, only applied if the document does not grow; `refusal` is the error if it would. */
export const withoutGrowth = (plan: UpdatePlan, refusal: AppError, hidden?: ReadonlySet<string>): UpdatePlan => ({
  ...plan,
  guards: [
    ...plan.guards,
    mustNotGrow({ ...plan.set, ...numbersIn(plan.operations) }, refusal, hidden),
    ...mustNotAdd(plan.operations ?? [], refusal),
  ],
});

/**
 * Prepares an update: what it sets and what it requires. `mayClaim`: a missing owner may be set. Throws 400
 * `INVALID_BODY`, `NOTHING_TO_UPDATE`, `INVALID_UPDATE` (a path through a scalar or beyond the end of an array, or
 * conflicting paths), `VALIDATION_FAILED`; 403 `OWNER_IMMUTABLE`; 413. Contract 2, "Update".
 */
export const planUpdate = (collection: Collection, body: JsonObject, mayClaim = false): UpdatePlan => {
  const sent = sanitizeUpdate(body);
  const operators = parseOperators(collection, body);
  const { operations = [], paths: operated = [], dates = {}, filters = [], additions = {} } = operators ?? {};
  const fields = fieldsOf(collection);
  const plain = Object.keys(sent);
  const paths = operators ? [...plain, ...operated] : plain;
  if (paths.length === 0) {
    throw new AppError('NOTHING_TO_UPDATE', 'Nothing to update. Send at least one field.');
  }
  requireFewPaths(paths);
  for (const path of plain) requirePath(path, sent[path]);
  const owner = immutableField(collection);
  if (owner !== undefined && plain.some((path) => path.startsWith(`${owner}.`))) throw ownerImmutable();
  if (operators) requireDisjoint(paths);
  for (const path of operated) if (rootOf(path) !== owner) requireEntrances(fields, path);
  const created = operators ? [...plain, ...Object.keys(dates), ...operations.filter(creates).map(pathOf)] : plain;
  const guards = guardsOf(fields, created);
  const stored = storedValues(collection, sent);
  const set = operators ? { ...stored, ...dates } : stored;
  const added = addedBy(operators ? { ...set, ...numbersIn(operations), ...additions } : set);
  const ofOwner =
    owner !== undefined && Object.hasOwn(set, owner) ? [keepsOwner(collection, set[owner], mayClaim)] : [];
  if (operated.some((path) => rootOf(path) === owner)) ofOwner.push(mustKeepOwner(ownerImmutable()));
  const { partition = '' } = collection;
  if (operated.some((path) => rootOf(path) === partition)) throw partitionImmutable(partition);
  const ofPartition = Object.hasOwn(set, partition) ? [keepsPartition(partition, set[partition])] : [];
  const ofArrays = arrayGuards(fields, set, (document) => appliedBy(set).to(document));
  return {
    sent,
    set,
    ...(operations.length > 0 && { operations }),
    operated,
    filters,
    additions,
    size: added.stored,
    guards: [
      ...ofOwner,
      ...ofPartition,
      ...guards,
      ...ofArrays,
      ...operatorGuards(collection, operations),
      mustHaveRoom(added, documentTooLarge),
    ],
  };
};

/**
 * Plans a caller's update: in a full database it must not grow, and `settle` applies the rights of fields. Throws the
 * errors of `planUpdate`, and 400 for a condition in an operator by a field that the caller may not use.
 */
export const planFor = async (context: AccessContext, body: JsonObject) => {
  const planned = planUpdate(context.collection, body, context.caller.kind === 'secret');
  if (planned.filters.length > 0) await requireConditions(context, planned.filters);
  const plan = (await hasDatabaseRoom(context.project, planned.size))
    ? planned
    : withoutGrowth(planned, databaseFull(context.project), await unreadablePaths(context, Object.keys(planned.set)));
  const fields = { ...plan.set, updatedAt: new Date(clock.now()) };
  const settle = settleUpdate(context, fields, plan.sent, plan);
  if (!runsEffects(context, 'update')) return { plan, fields, settle };
  const given = async (document: Document) => (settle ? settle(document) : fields);
  return { plan, fields, settle: settleEffects(context, given, plan.operations) };
};

/** What an upsert adds to an update. */
interface Upserting {
  readonly operation?: 'update' | 'upsert';
  readonly guards?: readonly Guard[];
}

/**
 * Sets the fields of a body, dotted paths included, with one command and returns the whole document. Throws the
 * errors of `planUpdate`; 404 if the document is missing or trashed, 403 `NOT_OWNER` for another user's, 403
 * `DATABASE_QUOTA_EXCEEDED` if it would grow in a full database, 409 `DUPLICATE_VALUE`, 412 at another revision than
 * `ifMatch`. A document that may be too large for a response is read first. Contract 2, "Update".
 */
export const updateDocument = async (
  context: AccessContext,
  id: string,
  body: JsonObject,
  { ifMatch, where }: Preconditions = {},
  { operation = 'update', guards: others = [] }: Upserting = {},
): Promise<WrittenDocument> => {
  const byRules = obeysRules(context);
  if (byRules) await decideWrite(context, operation, anyFields);
  else requireWriteAccess(context);
  const { plan, fields, settle } = await planFor(context, body);
  const { operations } = plan;
  // References are checked last.
  const named = plan.operated.length > 0 ? { ...plan.set, ...plan.additions } : plan.set;
  const isComputed = runsEffects(context, 'update') && checksReferences(context.collection);
  const verify =
    isComputed || setsReferences(context.collection, named)
      ? (settled: JsonObject) => requireReferences(context, { ...(settle ? settled : plan.set), ...plan.additions })
      : undefined;
  const isFused =
    !settle &&
    !verify &&
    ifMatch === undefined &&
    where === undefined &&
    plan.size <= maxFusedBytes &&
    [...others, ...plan.guards].every(({ leavesRoom, isAlwaysNeeded }) => leavesRoom || isAlwaysNeeded);
  const applied = byRules ? { applied: appliedBy(fields, operations) } : {};
  const change = {
    operation,
    state: 'active',
    guards: [...others, ...plan.guards],
    ...(settle && { settle }),
    verify,
    operations,
    ifMatch,
    where,
    fields,
    isFused,
    ...applied,
  } as const;
  const { written, before } = await setFields(context, id, change);
  if (before) noteCause(context, 'update', [{ document: written, stored: before, index: 0 }]);
  return shownToWriter(context, written);
};
