import { hasRules } from '../../collections/collection.ts';
import {
  couldAllowWithoutUser,
  isFalse,
  isTrue,
  joinsOf,
  type RuleNode,
  type Rules,
  withUnknown,
} from '../../collections/rules/rule.ts';
import { isActive, isTrashed } from '../../collections/trash-conditions.ts';
import { AppError } from '../../core/errors.ts';
import { type Document, documentNotFound, type JsonObject } from '../document.ts';
import { allOf, anyOf, type Condition, type Readable } from '../query/condition.ts';
import {
  type AccessContext,
  mayRead as mayReadFixed,
  requireFactor,
  tokenMissing,
  visibilityFilter,
} from './access.ts';
import { bind, needsNoLookUp } from './bind.ts';
import { decide } from './decide.ts';
import {
  bindingOf,
  decideOn,
  deniedError,
  isUntouched,
  type RuleName,
  requireUserIfNeeded,
  requireValidToken,
  requireValidTokenOf,
  ruleDenied,
} from './decide-rule.ts';
import { filterOf } from './filter-of.ts';
import { rulesOf } from './rules-of.ts';

/** Whether rules apply to this caller: only to publishable keys. */
export const obeysRules = ({
  collection: { rls },
  caller: { kind },
}: Pick<AccessContext, 'collection' | 'caller'>): boolean => kind === 'publishable' && hasRules(rls);

const nothing: Condition = { _id: { $in: [] } };

/** A fixed mode as a condition; `undefined` if it hides nothing. */
const fixed = (context: AccessContext, includeDeleted: boolean): Readable | undefined => {
  const condition = visibilityFilter(context, includeDeleted);
  return condition && { condition };
};

const trashCondition = (condition: Condition | boolean): Condition | undefined => {
  if (condition === true) return undefined;
  return condition === false ? isActive : anyOf([isActive, condition]);
};

/**
 * The condition of the documents that a caller may read: single ones (`get`), or in lists, joins and the feed
 * (`list`); `undefined` if they may read all. In mode `rules` the look-ups of the rule run now. Throws 401
 * `TOKEN_MISSING` if only a user could be allowed, 401 `TOKEN_INVALID` for an invalid token.
 */
export const filterReadable = async (
  context: AccessContext,
  half: 'get' | 'list',
  includeDeleted: boolean,
): Promise<Readable | undefined> => {
  if (context.caller.kind === 'publishable') requireValidTokenOf(context);
  if (!obeysRules(context)) return fixed(context, includeDeleted);
  requireFactor(context);
  const { rules } = await rulesOf(context.project, context.collection);
  const rule = rules[half];
  requireUserIfNeeded(context, rule);
  if (isFalse(rule)) return { condition: nothing };
  const asked = includeDeleted ? [rule, rules.readTrash] : [rule];
  const binding = await bindingOf(context, asked);
  const bound = await Promise.all(asked.map((each) => bind(each, binding)));
  const [read, trash] = bound;
  const allowed = read ? filterOf(read, binding.user) : false;
  if (allowed === false) return { condition: nothing };
  const conditions = [
    ...(allowed === true ? [] : [allowed]),
    ...(trash ? [trashCondition(filterOf(trash, binding.user))] : []),
    includeDeleted ? visibilityFilter(context, true) : undefined,
  ].filter((each) => each !== undefined);
  if (conditions.length === 0) return undefined;
  const joins = joinsOf(bound);
  return { condition: allOf(conditions), ...(joins && { joins }) };
};

/**
 * The condition of the documents that may replace references; `none` if the caller is rejected, so that the ids
 * stay.
 */
export const filterTargets = async (
  context: AccessContext,
  includeDeleted: boolean,
): Promise<Readable | undefined | 'none'> => {
  try {
    return await filterReadable(context, 'get', includeDeleted);
  } catch (error) {
    if (error instanceof AppError && (error.code === 'TOKEN_MISSING' || error.code === 'TOKEN_INVALID')) return 'none';
    throw error;
  }
};

/** Whether the caller may read a fetched document, as `get` decides. */
export const mayGet = async (context: AccessContext, document: Document): Promise<boolean> => {
  if (!obeysRules(context)) return mayReadFixed(context, document);
  const { rules } = await rulesOf(context.project, context.collection);
  if ((await decideOn(context, rules.get, document)) !== true) return false;
  if (!isTrashed(document)) return true;
  return mayReadFixed(context, document) && (await decideOn(context, rules.readTrash, document)) === true;
};

/**
 * Decides about many documents by the `list` rule. Its look-ups run once, or once per document if a join would be
 * needed.
 */
export const listDecider = async (context: AccessContext): Promise<(document: Document) => Promise<boolean>> => {
  const { rules } = await rulesOf(context.project, context.collection);
  if (isFalse(rules.list)) return async () => false;
  const binding = await bindingOf(context, [rules.list]);
  const bound = await bind(rules.list, binding);
  const isOnce = !joinsOf([bound]);
  return async (document) => {
    const rule = isOnce ? bound : await bind(rules.list, { ...binding, document });
    return decide(rule, { document, user: binding.user }) === true;
  };
};

/** Whether `list` lets everyone read a document, without a user and without look-ups. */
export const mayListWithoutUser = async (
  { project, collection }: Omit<AccessContext, 'caller'>,
  document: Document,
): Promise<boolean> => {
  const context: AccessContext = { project, collection, caller: { kind: 'publishable' } };
  const { rules } = await rulesOf(project, collection);
  if (!couldAllowWithoutUser(rules.list) || !needsNoLookUp(rules.list)) return false;
  return (await decideOn(context, rules.list, document)) === true;
};

/** Throws 401 if the caller can list nothing, before the request is looked at. */
export const requireList = async (context: AccessContext): Promise<void> => {
  if (context.caller.kind === 'publishable') requireValidTokenOf(context);
  if (!obeysRules(context)) {
    visibilityFilter(context, true);
    return;
  }
  requireFactor(context);
  requireUserIfNeeded(context, (await rulesOf(context.project, context.collection)).rules.list);
};

/**
 * Throws 403 `RULE_DENIED` if `read` excludes every document with these values, whatever its other fields contain. Costs
 * the look-ups of the rule.
 */
export const requireListOf = async (context: AccessContext, values: JsonObject): Promise<void> => {
  if (!obeysRules(context)) return;
  const { list } = (await rulesOf(context.project, context.collection)).rules;
  const known = withUnknown(list, (field) => !Object.hasOwn(values, field));
  if ((await decideOn(context, known, values)) === true) return;
  throw new AppError(
    'RULE_DENIED',
    `The rule "read" of the collection "${context.collection.name}" allows no document with this value.`,
  );
};

/** Throws if the caller can read no document, before the id is looked at: 401, or 404 if the rule is `false`. */
export const requireGet = async (context: AccessContext, includeDeleted: boolean): Promise<void> => {
  if (context.caller.kind === 'publishable') requireValidTokenOf(context);
  if (!obeysRules(context)) {
    visibilityFilter(context, includeDeleted);
    return;
  }
  requireFactor(context);
  const { rules } = await rulesOf(context.project, context.collection);
  requireUserIfNeeded(context, rules.get);
  if (isFalse(rules.get)) throw documentNotFound();
};

/**
 * Throws 403 `RULE_DENIED` or 401 `TOKEN_MISSING` if the `create` rule, or with `after` the rule of updates, does
 * not allow a document.
 */
export const requireCreate = async (
  context: AccessContext,
  document: JsonObject,
  names: readonly ('create' | 'after')[] = ['create'],
): Promise<void> => {
  const { rules } = await rulesOf(context.project, context.collection);
  for (const name of names) {
    if ((await decideOn(context, rules[name], document)) !== true) throw deniedError(context, name, rules[name]);
  }
};

/** The same while a top-level field of the document is unknown: what depends on it counts as allowed. */
export const requireCreateWithout = async (
  context: AccessContext,
  document: JsonObject,
  field: string,
): Promise<void> => {
  const { create } = (await rulesOf(context.project, context.collection)).rules;
  if (
    (await decideOn(
      context,
      withUnknown(create, (name) => name === field),
      document,
    )) !== true
  ) {
    throw deniedError(context, 'create', create);
  }
};

/** Whether other documents decide about inserts too. */
export const createLooksUp = async ({ project, collection }: AccessContext): Promise<boolean> =>
  !needsNoLookUp((await rulesOf(project, collection)).rules.create);

/** Throws if the caller can insert nothing: an invalid or missing token, or no user for the owner field. */
export const requireCreateAccess = async (context: AccessContext): Promise<void> => {
  requireValidToken(context);
  requireFactor(context);
  if (context.caller.userId === undefined && context.collection.rls.ownerField !== '') throw tokenMissing();
  const { rules } = await rulesOf(context.project, context.collection);
  requireUserIfNeeded(context, rules.create);
  if (isFalse(rules.create)) throw ruleDenied(context, 'create');
};

/** A write of one document; `upsert` is an update whose result must also pass `create`. */
export type DocumentWrite = 'update' | 'upsert' | 'delete' | 'recover' | 'purge';

const rulesFor = (rules: Rules, operation: DocumentWrite): readonly (readonly [RuleName, RuleNode])[] => {
  switch (operation) {
    case 'update':
    case 'upsert':
      return [['before', rules.before]];
    case 'purge':
      return [
        ['delete', rules.delete],
        ['purge', rules.purge],
      ];
    default:
      return [[operation, rules[operation]]];
  }
};

/** The result of an update, and the top-level fields that it sets. */
export interface Applied {
  readonly fields: ReadonlySet<string>;
  readonly to: (document: Document) => Document;
}

/** The decision of the rules about one write of a document. */
export interface RuleDecision {
  /** The condition of the documents for which every rule holds; `undefined` if only a fetched document can tell. */
  readonly condition: Condition | undefined;
  /** Whether other documents decide too. */
  readonly looksUp: boolean;
  /**
   * Throws if the document may not be written: 404 if hidden, 403 or 401 if a rule denies it, or the error of
   * `between`. `between` may return the result of the update for this document.
   */
  readonly require: (document: Document, between: () => Promise<Applied | undefined>) => Promise<void>;
}

/** Rules that need no look-up become a condition of the write, so that one command decides. */
const conditionFor = async (context: AccessContext, rules: readonly RuleNode[]): Promise<Condition | undefined> => {
  if (!rules.every(needsNoLookUp)) return undefined;
  const binding = await bindingOf(context, rules);
  const filters = await Promise.all(rules.map(async (rule) => filterOf(await bind(rule, binding), binding.user)));
  if (filters.includes(false)) return nothing;
  return allOf(filters.filter((filter) => typeof filter !== 'boolean'));
};

/**
 * Decides by the rules about a write of one document. Throws 401 before any look-up if only a user could be allowed.
 * `applied` is the result of an update, for its `after` rule.
 */
export const decideWrite = async (
  context: AccessContext,
  operation: DocumentWrite,
  applied?: Applied,
): Promise<RuleDecision> => {
  requireValidToken(context);
  requireFactor(context);
  const { rules } = await rulesOf(context.project, context.collection);
  const before = rulesFor(rules, operation);
  for (const [, rule] of before) requireUserIfNeeded(context, rule);
  const judged = operation === 'upsert' ? (['after', 'create'] as const) : (['after'] as const);
  const after = applied ? judged.filter((name) => !isTrue(rules[name])) : [];
  for (const name of after) requireUserIfNeeded(context, rules[name]);
  const isDirect = after.every((name) => applied !== undefined && isUntouched(rules[name], applied.fields));
  const all = [rules.get, ...before.map(([, rule]) => rule), ...after.map((name) => rules[name])];
  const readsTrash = operation === 'recover' || operation === 'purge';
  const isSettled =
    isDirect && (!readsTrash || (isTrue(rules.readTrash) && context.collection.rls.trash === 'everyone'));
  return {
    condition: isSettled ? await conditionFor(context, all) : undefined,
    looksUp: !all.every(needsNoLookUp),
    require: async (document, between) => {
      if (!(await mayGet(context, document))) throw documentNotFound();
      for (const [name, rule] of before) {
        if ((await decideOn(context, rule, document)) !== true) throw deniedError(context, name, rule);
      }
      const settled = await between();
      if (!applied) return;
      const made = (settled ?? applied).to(document);
      for (const name of after) {
        // A rule for creation has no stored document.
        const stored = name === 'after' ? document : undefined;
        if ((await decideOn(context, rules[name], made, stored)) !== true)
          throw deniedError(context, name, rules[name]);
      }
    },
  };
};
