import { type Document as MongoDocument, ObjectId } from 'mongodb';
import type { Collection, Field } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/names.ts';
import type { Operand, Outcome, RuleComparison, RuleNode } from '../../collections/rules/rule.ts';
import { someNode } from '../../collections/rules/rule.ts';
import { typeAt } from '../../collections/schema/field-path.ts';
import { isActive } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { idOf } from '../../core/values.ts';
import { onManaged } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { JsonObject } from '../document.ts';
import { boundedQuery } from '../query/bounded-query.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { decide, formsOf, valuesAt, wholeAt } from './decide.ts';
import { filterOf } from './filter-of.ts';

/** The maximum number of `$from` values or `$ref` targets in a list. */
const maxValues = 10_000;

/** The caller and the document for which a rule is bound. */
export interface Binding {
  readonly project: Project;
  readonly caller: Caller;
  readonly collection: Collection;
  readonly known: ReadonlyMap<string, Collection>;
  /** The caller's record, if the rule needs it; see `findUser`. */
  readonly user: JsonObject | undefined;
  /** The document to decide about: only its own values are looked up. Without one, all values are. */
  readonly document?: JsonObject | undefined;
  /** The document before the write, in `update.after`. */
  readonly stored?: JsonObject | undefined;
}

const constant = (at: string, outcome: Outcome): RuleNode => ({ kind: 'constant', at, outcome });

/** Rule look-ups read from the primary, so that a removed member loses access with the next request. */
const fromPrimary = { readPreference: 'primary' } as const;

const find = (
  { project }: Binding,
  name: string,
  conditions: readonly Condition[],
  options: { readonly projection: MongoDocument; readonly limit: number },
): Promise<MongoDocument[]> =>
  boundedQuery(
    project,
    name,
    () => ['rule', conditions],
    (db, limitMs) =>
      db
        .collection(name)
        .find(allOf([isActive, ...conditions]), { ...options, ...fromPrimary, maxTimeMS: limitMs, sort: { _id: 1 } })
        .toArray(),
  );

/** The caller's record for rules; `undefined` without a user. Costs one command, unless `_id` is enough. */
export const findUser = async (
  project: Project,
  { kind, userId }: Caller,
  needsRecord: boolean,
): Promise<JsonObject | undefined> => {
  if (kind === 'secret' || userId === undefined) return undefined;
  const _id = idOf(userId);
  if (!needsRecord || !_id) return { _id: userId };
  const record = await onManaged(project, (db) =>
    db
      .collection(usersCollection)
      .findOne({ _id, isDeleted: { $ne: true }, isDisabled: { $ne: true } }, { ...fromPrimary, maxTimeMS }),
  );
  // Until the token expires, it still identifies a deleted or disabled user.
  return record ? asRuleUser(record, userId) : { _id: userId };
};

/** A user's record for rules, without the defaults of the schema. */
export const asRuleUser = (record: MongoDocument, userId: string): JsonObject => {
  const { password: _password, _signIn, email, ...rest } = record;
  return {
    ...rest,
    _id: userId,
    ...(record.emailVerified === true && { email }),
    emailVerified: record.emailVerified === true,
    isAnonymous: _signIn?.anonymous !== undefined,
  };
};

/** The default values of top-level fields. */
export const defaultsOf = (schema: readonly Field[]): JsonObject =>
  Object.fromEntries(schema.flatMap((field) => (field.default === undefined ? [] : [[field.key, field.default]])));

const needsRecordOf = (rule: RuleNode): boolean =>
  someNode(rule, (node) => {
    if (node.kind === 'user') return node.where.kind !== 'all' || node.where.of.length > 0;
    if (node.kind !== 'compare') return false;
    const { operand } = node;
    const used = operand.kind === 'stored' ? [operand.adds, operand.removes] : [operand];
    return used.some((each) => each?.kind === 'user' && each.path !== '_id');
  });

/** Whether a rule needs more of the caller than their id. */
export const needsRecord = (rules: readonly RuleNode[]): boolean => rules.some(needsRecordOf);

/** Whether binding a rule costs no command once the caller's record is known. */
export const needsNoLookUp = (rule: RuleNode): boolean =>
  !someNode(
    rule,
    (node) =>
      node.kind === 'ref' ||
      (node.kind === 'compare' &&
        (node.operand.kind === 'from' || (node.operand.kind === 'doc' && node.operand.ref !== undefined))),
  );

/** The values of a field of the caller; `undefined` if it is missing, which makes a comparison unknown. */
const userValues = (user: JsonObject | undefined, path: string): readonly unknown[] | undefined => {
  if (!user) return undefined;
  const whole = wholeAt(user, path);
  const found = whole === undefined || whole === null ? valuesAt(user, path) : Array.isArray(whole) ? whole : [whole];
  const values = found.flat().filter((value) => value !== undefined && value !== null);
  return values.length === 0 && !Array.isArray(whole) ? undefined : values;
};

const listed: ReadonlySet<string> = new Set(['$in', '$nin']);

/** A comparison with one value, or with any of several. */
const withValues = (node: RuleComparison, values: readonly unknown[]): RuleNode => {
  if (listed.has(node.operator)) return { ...node, operand: { kind: 'literal', value: values } };
  if (node.isList && values.length !== 1) {
    const operator = node.operator === '$ne' ? '$nin' : '$in';
    return { ...node, operator, operand: { kind: 'literal', value: values } };
  }
  const [value] = values;
  const isEmptyText = value === '' && ['$contains', '$startsWith', '$endsWith'].includes(node.operator);
  return isEmptyText || values.length !== 1
    ? constant(node.at, 'unknown')
    : { ...node, operand: { kind: 'literal', value } };
};

/** Whether a condition is false for every document and unknown for none. */
const isNever = (rule: RuleNode, user: JsonObject | undefined): boolean => filterOf(rule, user, false) === true;

const bindFrom = async (
  node: RuleComparison,
  operand: Extract<Operand, { kind: 'from' }>,
  binding: Binding,
  candidates: readonly unknown[] | undefined,
): Promise<RuleNode> => {
  const target = binding.known.get(operand.collection);
  if (!target) return constant(node.at, 'unknown');
  // `$doc` is a field of the outer document here, so nothing else needs to be looked up.
  const where = await bindNode(operand.where, binding, { prefix: '', subject: undefined, isFrom: true });
  const condition = filterOf(where, binding.user);
  // Nothing can match. An empty list would allow everything after `$nin`.
  if (condition === false) return isNever(where, binding.user) ? withValues(node, []) : constant(node.at, 'unknown');
  if (candidates?.length === 0) return withValues(node, []);
  const type = typeOf(target, operand.select);
  const wanted = candidates?.flatMap((value) => formsOf(type, value));
  const conditions = [
    ...(condition === true ? [] : [condition]),
    wanted ? { [operand.select]: { $in: wanted } } : { [operand.select]: { $ne: null } },
  ] as Condition[];
  const found = await readValues(binding, operand, conditions, wanted);
  if (found.length > maxValues && node.operator === '$nin' && !wanted) {
    throw new AppError(
      'RULE_LIMIT',
      `A rule of the collection "${binding.collection.name}" excludes more than ${maxValues} values of "${operand.collection}", which a list cannot do.`,
    );
  }
  return withValues(node, wanted ? found : found.filter((_value, index) => index < maxValues));
};

const typeOf = (collection: Collection, path: string) => {
  const found = typeAt(collection, path);
  return found?.type === 'Array' ? found.items?.type : found?.type;
};

const keyOf = (value: unknown): string =>
  value instanceof ObjectId ? value.toHexString() : JSON.stringify([typeof value, value]);

/** The distinct values of a field, oldest documents first, at most one more than the limit. */
const readValues = async (
  { project }: Binding,
  { collection, select }: Extract<Operand, { kind: 'from' }>,
  conditions: readonly Condition[],
  wanted: readonly unknown[] | undefined,
): Promise<readonly unknown[]> =>
  boundedQuery(
    project,
    collection,
    () => ['rule', select, conditions],
    async (db, limitMs) => {
      const values = new Map<string, unknown>();
      const only = wanted && new Set(wanted.map(keyOf));
      const cursor = db.collection(collection).find(allOf([isActive, ...conditions]), {
        projection: { [select]: 1 },
        sort: { _id: 1 },
        batchSize: 5000,
        maxTimeMS: limitMs,
        ...fromPrimary,
      });
      try {
        for await (const document of cursor) {
          for (const value of valuesAt(document, select).flat()) {
            if (
              value === undefined ||
              value === null ||
              (typeof value === 'object' && !(value instanceof ObjectId) && !(value instanceof Date))
            )
              continue;
            const key = keyOf(value);
            if (!only || only.has(key)) values.set(key, value);
          }
          if (values.size > maxValues || (only && values.size === only.size)) break;
        }
      } finally {
        await cursor.close();
      }
      return [...values.values()];
    },
  );

type RefNode = Extract<RuleNode, { kind: 'ref' }>;

const pointsAtOneOf = (node: RefNode, ids: readonly unknown[]): RuleNode => ({
  ...{ kind: 'compare', at: node.at, path: node.path, type: 'Ref', isList: false, isStrict: false },
  operator: '$in',
  operand: { kind: 'literal', value: ids },
});

/** A field name that no document has, distinct for each place in a rule. */
const joinedField = (at: string): string => `target:${Buffer.from(at).toString('hex')}`;

const joined = ({ at, collection, path }: RefNode, outcome: Outcome, conditions: readonly Condition[]): RuleNode => {
  const as = joinedField(`${at} ${outcome}`);
  const pipeline = [{ $match: allOf([isActive, ...conditions]) }, { $project: { _id: 1 } }];
  const lookup = { from: collection, localField: path, foreignField: '_id', pipeline, as };
  return { kind: 'joined', at, as, stage: { $lookup: lookup } };
};

/**
 * The documents whose Ref points to an active target for which a bound condition has an outcome: by the ids of the
 * targets, or by a join if there are too many.
 */
const pointsInto = async (node: RefNode, binding: Binding, where: RuleNode, outcome: Outcome): Promise<RuleNode> => {
  const condition = outcome === 'unknown' ? notFalse(where, binding.user) : filterOf(where, binding.user, outcome);
  if (condition === false) return pointsAtOneOf(node, []);
  const conditions = condition === true ? [] : [condition];
  const found = await find(binding, node.collection, conditions, { projection: { _id: 1 }, limit: maxValues + 1 });
  if (found.length > maxValues) return joined(node, outcome, conditions);
  const ids = found.map(({ _id }) => _id);
  return pointsAtOneOf(node, ids);
};

/** The condition of the documents for which a bound rule is true or unknown. */
const notFalse = (rule: RuleNode, user: JsonObject | undefined): Condition | boolean => {
  const whenFalse = filterOf(rule, user, false);
  return typeof whenFalse === 'boolean' ? !whenFalse : { $nor: [whenFalse] };
};

const bindRef = async (node: RefNode, binding: Binding): Promise<RuleNode> => {
  const target = binding.known.get(node.collection);
  if (!target) return constant(node.at, false);
  if (binding.document) {
    const id = wholeAt(binding.document, node.path);
    if (!(id instanceof ObjectId)) return constant(node.at, false);
    const [found] = await find(binding, node.collection, [{ _id: id }], { projection: {}, limit: 1 });
    if (!found) return constant(node.at, false);
    const where = await bind(node.where, { ...binding, collection: target, document: found });
    return constant(node.at, decide(where, { document: found, user: binding.user }));
  }
  const { document: _none, ...listBinding } = binding;
  const where = await bind(node.where, { ...listBinding, collection: target });
  if (isNever(where, binding.user)) return constant(node.at, false);
  const allowed = await pointsInto(node, binding, where, true);
  const isTwoValued = !someNode(where, (inner) => inner.kind === 'constant' && inner.outcome === 'unknown');
  if (isTwoValued) return allowed;
  const open = await pointsInto(node, binding, where, 'unknown');
  // True for the first, false for documents that point to none of the second, otherwise unknown.
  return { kind: 'any', of: [allowed, { kind: 'all', of: [open, constant(node.at, 'unknown')] }] };
};

const bindDoc = async (
  node: RuleComparison,
  operand: Extract<Operand, { kind: 'doc' }>,
  binding: Binding,
): Promise<RuleNode> => {
  if (!operand.ref || !binding.document) return node;
  const id = wholeAt(binding.document, operand.ref.path);
  if (!(id instanceof ObjectId)) return constant(node.at, 'unknown');
  const [found] = await find(binding, operand.ref.collection, [{ _id: id }], {
    projection: { [operand.path]: 1 },
    limit: 1,
  });
  const value = found && wholeAt(found, operand.path);
  return value === undefined || value === null ? constant(node.at, 'unknown') : withValues(node, [value]);
};

/** The values of the given document that a `$from` looks up. */
const candidatesOf = (
  node: RuleComparison,
  prefix: string,
  document: JsonObject | undefined,
): readonly unknown[] | undefined => {
  if (!document) return undefined;
  const path = [prefix, node.path].filter((part) => part !== '').join('.');
  return valuesAt(document, path)
    .flat()
    .filter((value) => value !== undefined && value !== null);
};

const bindComparison = async (node: RuleComparison, binding: Binding, outer: Outer): Promise<RuleNode> => {
  const { operand } = node;
  switch (operand.kind) {
    case 'user': {
      const values = userValues(binding.user, operand.path);
      return values ? withValues(node, values) : constant(node.at, 'unknown');
    }
    case 'now':
      return withValues(node, [new Date(clock.now() + operand.ms)]);
    case 'from':
      return bindFrom(node, operand, binding, candidatesOf(node, outer.prefix, outer.subject));
    case 'doc': {
      if (outer.isFrom && !operand.ref) {
        const value = binding.document && wholeAt(binding.document, operand.path);
        return value === undefined || value === null ? constant(node.at, 'unknown') : withValues(node, [value]);
      }
      return bindDoc(node, operand, binding);
    }
    case 'stored': {
      const change = operand.adds ?? operand.removes;
      if (change?.kind !== 'user') return node;
      const values = userValues(binding.user, change.path);
      if (values?.length !== 1) return constant(node.at, 'unknown');
      const literal: Operand = { kind: 'literal', value: values[0] };
      return { ...node, operand: { ...operand, ...(operand.adds ? { adds: literal } : { removes: literal }) } };
    }
    default:
      return node;
  }
};

/** Where the paths of a condition begin. */
interface Outer {
  readonly prefix: string;
  /** The document whose values a `$from` looks up. */
  readonly subject: JsonObject | undefined;
  /** Inside `$from`, `$doc` is a field of the outer document. */
  readonly isFrom: boolean;
}

const bindNode = async (node: RuleNode, binding: Binding, outer: Outer): Promise<RuleNode> => {
  switch (node.kind) {
    case 'all':
    case 'any':
      return { ...node, of: await Promise.all(node.of.map((part) => bindNode(part, binding, outer))) };
    case 'not':
      return { ...node, of: await bindNode(node.of, binding, outer) };
    case 'compare':
      return bindComparison(node, binding, outer);
    case 'elements': {
      const prefix = [outer.prefix, node.path].filter((part) => part !== '').join('.');
      return { ...node, where: await bindNode(node.where, binding, { ...outer, prefix }) };
    }
    case 'user':
      return {
        ...node,
        where: await bindNode(node.where, binding, { prefix: '', subject: binding.user, isFrom: false }),
      };
    case 'ref':
      return bindRef(node, binding);
    case 'stored':
      return { ...node, where: await bindNode(node.where, binding, { ...outer, subject: binding.stored }) };
    default:
      return node;
  }
};

/**
 * Replaces the operands of a rule by their current values, with all look-ups in parallel. Fields of the document and
 * of its stored version remain. Costs no command if `needsNoLookUp`.
 */
export const bind = (rule: RuleNode, binding: Binding): Promise<RuleNode> =>
  bindNode(rule, binding, { prefix: '', subject: binding.document, isFrom: false });
