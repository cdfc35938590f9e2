import { type Document as MongoDocument, ObjectId } from 'mongodb';
import type { Field } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/names.ts';
import { type Operand, type RuleComparison, type RuleNode, someNode } from '../../collections/rules/rule.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { idOf } from '../../core/values.ts';
import { onManaged } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { JsonObject } from '../document.ts';
import type { Condition } from '../query/condition.ts';
import { decide, formsOf, valuesAt, wholeAt } from './decide.ts';
import { filterOf } from './filter-of.ts';
import {
  type Binding,
  constant,
  find,
  fromPrimary,
  isNever,
  loadValues,
  maxValues,
  mayBeUnknown,
  pointsInto,
  type RefNode,
  typeOf,
  userValues,
  withValues,
} from './rule-look-ups.ts';

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
  const among = (values: readonly unknown[]): RuleNode => {
    const compared = withValues(node, values);
    if (!mayBeUnknown(where, binding.user)) return compared;
    // Other documents could match, so only a value that was found decides.
    return { kind: node.operator === '$nin' ? 'all' : 'any', of: [compared, constant(node.at, 'unknown')] };
  };
  if (candidates?.length === 0) return among([]);
  const type = typeOf(target, operand.select);
  const wanted = candidates?.flatMap((value) => formsOf(type, value));
  const conditions = [
    ...(condition === true ? [] : [condition]),
    wanted ? { [operand.select]: { $in: wanted } } : { [operand.select]: { $exists: true } },
  ] as Condition[];
  const found = await loadValues(binding, operand, conditions, wanted);
  if (found.length > maxValues && node.operator === '$nin' && !wanted) {
    throw new AppError(
      'RULE_LIMIT',
      `A rule of the collection "${binding.collection.name}" excludes more than ${maxValues} values of "${operand.collection}", which is too many for a list.`,
    );
  }
  return among(wanted ? found : found.filter((_value, index) => index < maxValues));
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
  if (!mayBeUnknown(where, binding.user)) return allowed;
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
      return withValues(node, [new Date((binding.time ?? clock.now()) + operand.ms)]);
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
