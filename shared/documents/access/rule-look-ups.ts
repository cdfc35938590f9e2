import { type Document as MongoDocument, ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import {
  type Operand,
  type Outcome,
  type RuleComparison,
  type RuleNode,
  someNode,
} from '../../collections/rules/rule.ts';
import { typeAt } from '../../collections/schema/field-path.ts';
import { isActive } from '../../collections/trash-conditions.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { JsonObject } from '../document.ts';
import { boundedQuery } from '../query/bounded-query.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { decide, valuesAt, wholeAt } from './decide.ts';
import { filterOf } from './filter-of.ts';

/** The maximum number of `$from` values or `$ref` targets in a list. */
export const maxValues = 10_000;

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
  /** In ms, if it is not now. */
  readonly time?: number | undefined;
}

export const constant = (at: string, outcome: Outcome): RuleNode => ({ kind: 'constant', at, outcome });

/** Rule look-ups read from the primary, so that a removed member loses access with the next request. */
export const fromPrimary = { readPreference: 'primary' } as const;

export const find = (
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

/** The values of a field of the caller; `undefined` if it is missing, which makes a comparison unknown. */
export const userValues = (user: JsonObject | undefined, path: string): readonly unknown[] | undefined => {
  if (!user) return undefined;
  const whole = wholeAt(user, path);
  const found = whole === undefined || whole === null ? valuesAt(user, path) : Array.isArray(whole) ? whole : [whole];
  const values = found.flat().filter((value) => value !== undefined && value !== null);
  return values.length === 0 && !Array.isArray(whole) ? undefined : values;
};

const listed: ReadonlySet<string> = new Set(['$in', '$nin']);

/** A comparison with one value, or with any of several. */
export const withValues = (node: RuleComparison, values: readonly unknown[]): RuleNode => {
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
export const isNever = (rule: RuleNode, user: JsonObject | undefined): boolean => filterOf(rule, user, false) === true;

/** Whether a bound condition about documents is unknown for some of them. */
export const mayBeUnknown = (rule: RuleNode, user: JsonObject | undefined): boolean =>
  someNode(rule, (node) =>
    node.kind === 'user'
      ? decide(node, { document: {}, user }) === 'unknown'
      : node.kind === 'constant' && node.outcome === 'unknown',
  );

export const typeOf = (collection: Collection, path: string) => {
  const found = typeAt(collection, path);
  return found?.type === 'Array' ? found.items?.type : found?.type;
};

const keyOf = (value: unknown): string =>
  value instanceof ObjectId ? value.toHexString() : JSON.stringify([typeof value, value]);

/** The distinct values of a field, oldest documents first, at most one more than the limit. */
export const loadValues = async (
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
          for (const value of valuesAt(document, select)) {
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

export type RefNode = Extract<RuleNode, { kind: 'ref' }>;

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
export const pointsInto = async (
  node: RefNode,
  binding: Binding,
  where: RuleNode,
  outcome: Outcome,
): Promise<RuleNode> => {
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
