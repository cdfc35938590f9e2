import { ObjectId } from 'mongodb';
import { type Collection, ownerFieldOf } from '../../collections/collection.ts';
import { fieldAt, fieldsOf, typeAt, unknownPaths } from '../../collections/schema/field-path.ts';
import { clock } from '../../core/clock.ts';
import { AppError, type FieldError, validationFailed } from '../../core/errors.ts';
import { idOf } from '../../core/values.ts';
import { databaseFull, hasDatabaseRoom } from '../../projects/database-quota.ts';
import { type AccessContext, isSameOwner, ownedBy } from '../access/access.ts';
import { unreadablePaths } from '../access/field-rights.ts';
import type { Document, JsonObject } from '../document.ts';
import { runsEffects } from '../effects/set-fields.ts';
import type { ParsedFilter } from '../query/filter.ts';
import { convert } from '../values.ts';
import type { Guard } from './guarded-write.ts';
import { appliedBy, type FieldOperation, rootOf } from './operations.ts';
import { mustKeepOwner, mustNotAdd, operatorGuards } from './operator-guards.ts';
import { parseOperators } from './parse-operators.ts';
import { requireConditions } from './preconditions.ts';
import { settleEffects, settleUpdate } from './settle-update.ts';
import {
  arrayGuards,
  guardsOf,
  mustNotGrow,
  requireDisjoint,
  requireEntrances,
  requireFewPaths,
  requirePath,
} from './update-path.ts';
import { addedBy, documentTooLarge, mustHaveRoom, sanitizeUpdate } from './validate.ts';

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
